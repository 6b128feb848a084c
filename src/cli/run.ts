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

/** Says what went wrong, and returns the exit code. */
function report(error: unknown, io: ProcessIo): number {
  const { colors, print } = createErrorTerminal(io)
  print(
    describe(error).map((line, place) => (place > 0 ? line : `${colors.red('error:')} ${line}`)),
  )
  if (error instanceof DashkeepError) {
    const { hint } = error
    if (hint !== undefined) print(`${colors.cyan('hint:')} ${hint}`)
  } else if (error instanceof Error) {
    print([...framesOf(error), 'This is a defect of dashkeep; please report it.'])
  }
  return exitCodeOf(error)
}

/** The lines of a message. That of an error from elsewhere is one line, whatever it holds. */
function describe(error: unknown): string[] {
  if (error instanceof DashkeepError) return error.message.split('\n')
  return [error instanceof Error ? error.message : String(error)]
}

/** The lines of a stack that say where, without the message, which may hold any lines. */
function framesOf({ stack = '', message }: Error): string[] {
  const at = stack.indexOf(message)
  return stack
    .slice(at < 0 ? 0 : at + message.length)
    .split('\n')
    .slice(1)
}
