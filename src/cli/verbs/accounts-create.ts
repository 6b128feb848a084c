import { type FileHandle, open, rm } from 'node:fs/promises'
import { type Created, createAccount } from '../../accounts/create.ts'
import { checkNewAccount } from '../../accounts/document.ts'
import type { NewSubAccount, SubAccount } from '../../accounts/service.ts'
import { DashkeepError } from '../../errors.ts'
import { describeFileError } from '../../local-files.ts'
import { exitCodes } from '../../run/exit-codes.ts'
import { confirm, notConfirmed, type Terminal } from '../terminal.ts'
import {
  type ManagementOptions,
  nameAccount,
  openManagement,
  parseGb,
  parseSubAccountId,
  printBody,
} from './management.ts'

interface CreateOptions extends ManagementOptions {
  readonly email: string
  readonly name: string
  readonly retentionDays: number
  readonly maxDailyGb?: string
  readonly shareWith?: readonly string[]
  readonly tokenFile?: string
}

/** `dashkeep accounts create`: shows the new account, asks, creates it and waits until the service lists it. */
export async function createSubAccount(
  terminal: Terminal,
  options: CreateOptions,
): Promise<number> {
  const account = readAccount(options)
  await using managing = await openManagement(terminal, options)
  const { service, context } = managing
  const before = await service.listSubAccounts(terminal)
  const warnings = warningsOf(account, before)
  if (!terminal.json) printPlan(terminal, account, { main: service.main, warnings })
  const { dryRun } = options
  const question = 'Create this sub account?'
  const answer = dryRun ? 'no' : await confirm(terminal, question, options)
  if (answer !== 'yes') {
    if (terminal.json) terminal.printJson({ done: false, body: account, warnings })
    else printNothingDone(terminal, account, dryRun)
    if (answer === 'unasked') throw notConfirmed('create the sub account')
    return exitCodes.done
  }
  await using tokenFile = await reserveFile(options.tokenFile)
  const { signal } = terminal
  const onUnclear = ({ message }: Error) =>
    context.log.warn(
      { reason: message },
      'the answer is unclear: searching the list for the new account',
    )
  const how = { ...managing, before, signal, onUnclear }
  terminal.progress.begin('creating the sub account')
  const created = await createAccount(service, account, how)
  await tokenFile?.write(created)
  report(terminal, created, { warnings, tokenFile: options.tokenFile })
  signal.throwIfAborted()
  return created.shown ? exitCodes.done : exitCodes.partly
}

function readAccount(options: CreateOptions): NewSubAccount {
  const { email, name: accountName, retentionDays, shareWith } = options
  const account = {
    email,
    accountName,
    retentionDays,
    maxDailyGB: parseGb(options.maxDailyGb ?? '0'),
    ...(shareWith && { sharingObjectsAccounts: parseSharing(shareWith) }),
  }
  checkNewAccount(account)
  return account
}

/** Reads ids of accounts, or `none`. */
export function parseSharing(ids: readonly string[]): number[] {
  return ids.join() === 'none' ? [] : ids.map(parseSubAccountId)
}

function warningsOf(account: NewSubAccount, before: readonly SubAccount[]): string[] {
  const warnings: string[] = []
  if (account.maxDailyGB === 0) {
    warnings.push('with 0 GB per day the account accepts no logs: use --max-daily-gb 1 or more')
  }
  const namesake = before.find(({ accountName }) => accountName === account.accountName)
  if (namesake) warnings.push(`account ${namesake.accountId} already has this name`)
  return warnings
}

interface TokenFile extends AsyncDisposable {
  write(created: Created): Promise<void>
}

/** Creates the file before the account, so that the token can be written. Disposing removes an empty file. */
async function reserveFile(path: string | undefined): Promise<TokenFile | undefined> {
  if (path === undefined) return undefined
  const file: FileHandle = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    const state = error.code === 'EEXIST' ? 'it is there already' : describeFileError(error)
    throw new DashkeepError(`Cannot write the token to ${path}: ${state}`, {
      kind: 'usage',
      hint: 'nothing was created; give --token-file a new file in an existing folder',
      cause: error,
    })
  })
  let written = false
  return {
    async write({ accountId, accountToken }) {
      try {
        await file.writeFile(`${accountToken}\n`)
        await file.sync()
        written = true
      } catch (cause) {
        throw new DashkeepError(
          `Cannot write the token of the new account ${accountId} to ${path}: ${describeFileError(cause)}`,
          {
            hint: 'the account was created; copy its token from the account management page of the web application',
            cause,
          },
        )
      }
    },
    async [Symbol.asyncDispose]() {
      await file.close()
      if (!written) await rm(path, { force: true })
    },
  }
}

function printPlan(
  terminal: Terminal,
  account: NewSubAccount,
  { main, warnings }: { main: Parameters<typeof nameAccount>[0]; warnings: readonly string[] },
): void {
  const { colors } = terminal
  terminal.print(`New sub account of main account ${nameAccount(main)}`)
  for (const [member, value] of Object.entries(account)) {
    terminal.print(`  ${colors.green('+')} ${member}: ${JSON.stringify(value)}`)
  }
  for (const warning of warnings) terminal.print(`${colors.yellow('warning')} ${warning}`)
}

function printNothingDone(
  terminal: Terminal,
  account: NewSubAccount,
  dryRun: boolean | undefined,
): void {
  if (dryRun) printBody(terminal, account)
  terminal.print(
    dryRun ? 'Nothing was created; this is the body of the request' : 'Nothing was created',
  )
}

function report(
  terminal: Terminal,
  { accountId, accountToken, shown }: Created,
  { warnings, tokenFile }: { warnings: readonly string[]; tokenFile: string | undefined },
): void {
  const { colors } = terminal
  if (terminal.json) {
    const token = tokenFile === undefined ? { accountToken } : { tokenFile }
    terminal.printJson({ done: true, accountId, ...token, shown, warnings })
    return
  }
  terminal.print(`${colors.green('created')} account ${accountId}`)
  if (tokenFile === undefined) {
    terminal.print(`Token for shipping logs, shown only once: ${accountToken}`)
  } else {
    terminal.print(`Its token for shipping logs is in ${tokenFile}`)
  }
  if (!shown)
    terminal.print(`${colors.yellow('not listed')} the service does not list the account yet`)
}
