import type { Command } from 'commander'
import { causeOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import { version } from '../version.ts'
import { DashkeepCommand } from './command.ts'
import type { CommonOptions, Run, Verb } from './options.ts'
import { declareAccountVerbs } from './program/accounts.ts'
import { declareArchiveVerbs } from './program/archive.ts'
import { declareFindingVerbs } from './program/finding.ts'
import { declareHelpVerbs } from './program/help.ts'
import { declareJudgingVerbs } from './program/judging.ts'
import { declareKeepingVerbs } from './program/keeping.ts'
import { declareRestore } from './program/restore.ts'
import { declareServiceVerbs } from './program/service.ts'
import { declareTrialVerbs } from './program/trial.ts'
import { createErrorTerminal, createTerminal, type ProcessIo } from './terminal.ts'

const examples = `
Examples:
  dashkeep demo                                  try dashkeep on this machine, without an account
  dashkeep doctor                                check configuration, token and store
  dashkeep backup --store file:///var/backups    back up once, with the token in DASHKEEP_API_TOKEN
  dashkeep list                                  list the snapshots
  dashkeep diff '1 day ago'                      show what has changed since

Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 partly done or suspect,
4 too old, 5 verification failed, 130 interrupted (143 by SIGTERM or SIGHUP).`

/** Declares every verb. `finish` receives the exit code of the verb that ran. */
export function createProgram(io: ProcessIo, finish: (exitCode: number) => void): Command {
  const program = new DashkeepCommand('dashkeep')
    .description(
      'Backs up the saved objects of hosted Kibana accounts, verifies the backups and restores them.',
    )
    .version(version, '-V, --version')
    .helpCommand(false)
    .showSuggestionAfterError(false)
    .addHelpText('after', examples)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => createTerminal(io, { json: false }).print(linesOf(text)),
      writeErr: (text) => createErrorTerminal(io).print(linesOf(text)),
    })

  const run = createRun(io, finish)
  declareArchiveVerbs(program, run)
  declareFindingVerbs(program, run)
  declareJudgingVerbs(program, run)
  declareKeepingVerbs(program, run)
  declareRestore(program, run)
  declareServiceVerbs(program, run)
  declareAccountVerbs(program, run)
  declareTrialVerbs(program, run)
  declareHelpVerbs(program, run)
  return program
}

/** Makes the actions of all commands: import the verb, run it, pass on its exit code. */
function createRun(io: ProcessIo, finish: (exitCode: number) => void): Run {
  return <Options extends object>(load: () => Promise<Verb<Options>>) =>
    async (...given: unknown[]) => {
      const command = given.at(-1) as Command
      const options = { ...command.optsWithGlobals(), ...argumentsOf(command) } as Options
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

/** The arguments of a command line, by the names that the command gives them. */
function argumentsOf({ registeredArguments, processedArgs }: Command): object {
  return Object.fromEntries(
    registeredArguments.map((argument, index) => [argument.name(), processedArgs[index]]),
  )
}

/** The lines of a text that ends with a line break. */
function linesOf(text: string): string[] {
  return text.replace(/\n$/, '').split('\n')
}
