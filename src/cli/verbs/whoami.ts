import { checkOwner } from '../../archive/check-owner.ts'
import type { AccountConfig } from '../../config/config.ts'
import { connectAccount } from '../../open.ts'
import { exitCodeOf, exitCodes } from '../../run/exit-codes.ts'
import { type Context, createContext } from '../context.ts'
import type { CommonOptions } from '../options.ts'
import { formatTable } from '../print/table.ts'
import { createIdentify, selectAccounts } from '../select/choose-account.ts'
import { printHint, type Terminal } from '../terminal.ts'

interface Identity {
  readonly name: string
  readonly accountId?: number
  readonly accountName?: string
  readonly error?: Error
}

/** `dashkeep whoami`: prints the account that each configured token belongs to. */
export async function whoami(
  terminal: Terminal,
  options: CommonOptions & { account?: readonly string[] },
): Promise<number> {
  const context = await createContext(terminal, options, ['accounts'])
  const idOf = createIdentify(context, terminal)
  const { accounts } = await selectAccounts(context.config, options.account, idOf)
  const identities: Identity[] = []
  terminal.progress.begin('asking the service', { unit: 'account', total: accounts.length })
  for (const account of accounts) {
    identities.push(await identify(account, context, terminal))
    terminal.progress.advance()
  }
  if (terminal.json) terminal.printJson({ accounts: identities.map(toJson) })
  else printIdentities(terminal, identities)
  const errors = identities.flatMap(({ error }) => error ?? [])
  if (errors.length === 0) return exitCodes.done
  return errors.length < identities.length ? exitCodes.partly : exitCodeOf(errors[0])
}

async function identify(
  account: AccountConfig,
  { config, log }: Context,
  { env, signal }: Terminal,
): Promise<Identity> {
  const { name } = account
  try {
    await using service = await connectAccount(account, config, { env, log })
    const owner = await service.whoami({ signal })
    checkOwner(owner, account.accountId, { action: `use the token of ${name} for` })
    return { name, ...owner }
  } catch (error) {
    signal.throwIfAborted()
    return { name, error: error as Error }
  }
}

function toJson({ name, accountId, accountName, error }: Identity): object {
  return { name, accountId, accountName, error: error?.message }
}

function printIdentities(terminal: Terminal, identities: readonly Identity[]): void {
  const { colors } = terminal
  const rows = identities
    .filter(({ error }) => error === undefined)
    .map(({ name, accountId, accountName = '' }) => [name, String(accountId), accountName])
  if (rows.length > 0) {
    terminal.print(
      formatTable(terminal, ['ACCOUNT', 'ID', 'NAME'], rows, {
        right: [1],
        flexible: ['ACCOUNT', 'NAME'],
      }),
    )
  }
  for (const { error } of identities) {
    if (error === undefined) continue
    terminal.print(`${colors.red('failed')} ${error.message}`)
    printHint(terminal, error)
  }
}
