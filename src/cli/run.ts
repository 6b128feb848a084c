import { CommanderError } from 'commander'
import { DashkeepError } from '../errors.ts'
import { exitCodeOf, exitCodes } from './exit-codes.ts'
import { createProgram } from './program.ts'
import { createTerminal, type Outside, printable } from './terminal.ts'

/** Runs one command line and returns the exit code. Never throws. */
export async function runCli(args: readonly string[], outside: Outside): Promise<number> {
  const result = { exitCode: exitCodes.done as number }
  const program = createProgram(outside, (exitCode) => {
    result.exitCode = exitCode
  })
  try {
    await program.parseAsync([...args], { from: 'user' })
    return result.exitCode
  } catch (error) {
    if (error instanceof CommanderError)
      return error.exitCode === 0 ? exitCodes.done : exitCodes.usage
    return report(error, outside)
  }
}

/** Says what went wrong, and returns the exit code. */
function report(error: unknown, outside: Outside): number {
  const { colors } = createTerminal({ ...outside, stdout: outside.stderr }, { json: false })
  const message = error instanceof Error ? error.message : String(error)
  outside.stderr.write(`${colors.red('error:')} ${printableLines(message)}\n`)
  if (error instanceof DashkeepError) {
    const { hint } = error
    if (hint !== undefined) {
      outside.stderr.write(`${colors.cyan('hint:')} ${printableLines(hint)}\n`)
    }
  } else if (error instanceof Error) {
    outside.stderr.write(`${error.stack}\nThis is a defect of dashkeep; please report it.\n`)
  }
  return exitCodeOf(error)
}

/** Errors name objects, files and answers: nothing in them may steer the terminal. */
function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n')
}
