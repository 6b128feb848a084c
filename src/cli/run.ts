import { CommanderError } from 'commander'
import { DashkeepError } from '../errors.ts'
import { exitCodeOf, exitCodes } from '../run/exit-codes.ts'
import { createProgram } from './program.ts'
import { createErrorTerminal, type ProcessIo } from './terminal.ts'

/** Runs one command line and returns the exit code. Never throws. */
export async function runCli(args: readonly string[], io: ProcessIo): Promise<number> {
  const result = { exitCode: exitCodes.done as number }
  const program = createProgram(io, (exitCode) => {
    result.exitCode = exitCode
  })
  try {
    await program.parseAsync([...args], { from: 'user' })
    return result.exitCode
  } catch (error) {
    if (error instanceof CommanderError)
      return error.exitCode === 0 ? exitCodes.done : exitCodes.usage
    return report(error, io)
  }
}

/** Prints an error and returns its exit code. */
function report(error: unknown, io: ProcessIo): number {
  const { colors, print } = createErrorTerminal(io)
  print(
    describe(error).map((line, index) => (index > 0 ? line : `${colors.red('error:')} ${line}`)),
  )
  if (error instanceof DashkeepError) {
    const { hint } = error
    if (hint !== undefined) print(`${colors.cyan('hint:')} ${hint}`)
  } else if (error instanceof Error) {
    print([...framesOf(error), 'This is a bug in dashkeep. Please report it with the lines above.'])
  }
  return exitCodeOf(error)
}

/** The lines of a message. Line breaks count only in dashkeep's own errors. */
function describe(error: unknown): string[] {
  if (error instanceof DashkeepError) return error.message.split('\n')
  return [error instanceof Error ? error.message : String(error)]
}

/** The frames of a stack, without the message. */
function framesOf({ stack = '', message }: Error): string[] {
  const at = stack.indexOf(message)
  return stack
    .slice(at < 0 ? 0 : at + message.length)
    .split('\n')
    .slice(1)
}
