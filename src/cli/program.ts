import { Command } from 'commander'
import { causeOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import { version } from '../version.ts'
import type { CommonOptions, Run, Verb } from './options.ts'
import { declareAccountVerbs } from './program/accounts.ts'
import { declareArchiveVerbs } from './program/archive.ts'
import { declareFindingVerbs } from './program/finding.ts'
import { declareHelpVerbs } from './program/help.ts'
import { declareKeepingVerbs } from './program/keeping.ts'
import { declareRestore } from './program/restore.ts'
import { declareServiceVerbs } from './program/service.ts'
import { declareTrialVerbs } from './program/trial.ts'
import { createErrorTerminal, createTerminal, type ProcessIo } from './terminal.ts'

const examples = `
Examples:
  dashkeep demo                                  try it all on this machine, without an account
  dashkeep doctor                                check configuration, token and store
  dashkeep backup --store file:///var/backups    one backup, token from the environment
  dashkeep list                                  what is in the archive
  dashkeep diff '1 day ago'                      what somebody did since

Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 partly done or suspect,
4 stale, 5 verification failed, 130 interrupted (143 by SIGTERM or SIGHUP).`

/** Declares every verb. `finish` is given the exit code of the one that ran. */
export function createProgram(io: ProcessIo, finish: (exitCode: number) => void): Command {
  const program = new Command('dashkeep')
    .description('Keeps the saved objects of hosted Kibana accounts safe, and proves it.')
    .version(version, '-V, --version')
    .helpCommand(false)
    .showHelpAfterError('(add --help to see every option)')
    .addHelpText('after', examples)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => createTerminal(io, { json: false }).print(linesOf(text)),
      writeErr: (text) => createErrorTerminal(io).print(linesOf(text)),
    })

  const run = createRun(io, finish)
  declareArchiveVerbs(program, run)
  declareFindingVerbs(program, run)
  declareKeepingVerbs(program, run)
  declareRestore(program, run)
  declareServiceVerbs(program, run)
  declareAccountVerbs(program, run)
  declareTrialVerbs(program, run)
  declareHelpVerbs(program, run)
  return program
}

/** Returns a function that makes a command's action: it imports the verb, runs it and passes on its exit code. */
function createRun(io: ProcessIo, finish: (exitCode: number) => void): Run {
  return <Options extends object>(
    load: () => Promise<Verb<Options>>,
    read: (args: string[]) => object = () => ({}),
  ) =>
    async (...given: unknown[]) => {
      const command = given.at(-1) as Command
      const options = { ...command.optsWithGlobals(), ...read(command.processedArgs) } as Options
      const { json = false, quiet = false } = command.optsWithGlobals<CommonOptions>()
      let log: Logger | undefined
      const onLog = (created: Logger) => {
        log = created
      }
      const terminal = { ...createTerminal(io, { json, quiet }), onLog }
      const verb = await load()
      try {
        finish(await verb(terminal, options))
      } catch (error) {
        const cause = causeOf(error)
        if (cause !== undefined) log?.debug({ cause }, 'cause of the failure')
        throw error
      } finally {
        terminal.progress.end()
      }
    }
}

/** The lines of a text that ends with a line break. */
function linesOf(text: string): string[] {
  return text.replace(/\n$/, '').split('\n')
}
