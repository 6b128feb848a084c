import { applyChange, type PlannedChange, planChange } from '../../accounts/change.ts'
import { checkSettings, parseDocument } from '../../accounts/document.ts'
import type { Settings, SubAccount } from '../../accounts/service.ts'
import { findSubAccount, type SettingChange, settingsOf } from '../../accounts/settings.ts'
import { DashkeepError } from '../../errors.ts'
import { describeFileError, gatherText, readSmallFile } from '../../local-files.ts'
import { exitCodes } from '../../run/exit-codes.ts'
import { confirm, notConfirmed, type Terminal } from '../terminal.ts'
import { parseSharing } from './accounts-create.ts'
import {
  formatValue,
  type ManagementOptions,
  nameAccount,
  openManagement,
  parseGb,
  parseSubAccountId,
  printBody,
} from './management.ts'

interface ChangeOptions extends ManagementOptions {
  readonly id: string
  readonly force?: boolean
}

interface UpdateOptions extends ChangeOptions {
  readonly name?: string
  readonly maxDailyGb?: string
  readonly retentionDays?: number
  readonly searchable?: string
  readonly accessible?: string
  readonly docSize?: string
  readonly shareWith?: readonly string[]
  readonly utilization?: string
}

/** `dashkeep accounts replace`: replaces all settings of a sub account with those of a document. */
export async function replace(
  terminal: Terminal,
  options: ChangeOptions & { file?: string },
): Promise<number> {
  const document = await readDocument(terminal, options.file)
  return change(terminal, options, (present) => parseDocument(document, present))
}

/** `dashkeep accounts update`: changes the given settings and sends all others back unchanged. */
export async function update(terminal: Terminal, options: UpdateOptions): Promise<number> {
  const wanted = readWanted(options)
  return change(terminal, options, (_present, before) => {
    const utilizationSettings = { ...before.utilizationSettings, ...wanted.utilizationSettings }
    const after = { ...before, ...wanted, utilizationSettings }
    checkSettings(after, before)
    return after
  })
}

/** Far more than all settings of a sub account. */
const MAX_DOCUMENT_BYTES = 1024 ** 2

async function readDocument({ stdin }: Terminal, file: string | undefined): Promise<string> {
  if (file !== undefined && file !== '-') {
    return readSmallFile(file, { maxBytes: MAX_DOCUMENT_BYTES }).catch(cannotRead(file))
  }
  const piped = stdin?.()
  if (piped !== undefined && !piped.isTTY) {
    return gatherText(piped, MAX_DOCUMENT_BYTES).catch(cannotRead('the document'))
  }
  throw new DashkeepError('Cannot replace the settings: there is no document', {
    kind: 'usage',
    hint: 'name a file, or pipe the document to standard input',
  })
}

function cannotRead(what: string): (cause: Error) => never {
  return (cause) => {
    throw new DashkeepError(`Cannot read ${what}: ${describeFileError(cause)}`, {
      kind: 'usage',
      hint: 'name a file that holds the document, or pipe it to standard input',
      cause,
    })
  }
}

function readWanted(options: UpdateOptions): Partial<Settings> {
  const { name, maxDailyGb, retentionDays, searchable, accessible, docSize } = options
  const { shareWith, utilization } = options
  const wanted = {
    ...(name !== undefined && { accountName: name }),
    ...(maxDailyGb !== undefined && { maxDailyGB: parseGb(maxDailyGb) }),
    ...(retentionDays !== undefined && { retentionDays }),
    ...(searchable !== undefined && { searchable: parseFlag('--searchable', searchable) }),
    ...(accessible !== undefined && { accessible: parseFlag('--accessible', accessible) }),
    ...(docSize !== undefined && { docSizeSetting: parseFlag('--doc-size', docSize) }),
    ...(shareWith !== undefined && { sharingObjectsAccounts: parseSharing(shareWith) }),
    ...(utilization !== undefined && { utilizationSettings: parseUtilization(utilization) }),
  }
  if (Object.keys(wanted).length > 0) return wanted
  throw new DashkeepError('Cannot update the sub account: no setting is given', {
    kind: 'usage',
    hint: 'add for example --max-daily-gb 3 or --retention-days 14; --help lists the settings',
  })
}

function parseFlag(flag: string, text: string): boolean {
  if (/^(yes|true|on)$/i.test(text)) return true
  if (/^(no|false|off)$/i.test(text)) return false
  throw new DashkeepError(`Cannot use ${flag} ${text}: it is neither yes nor no`, {
    kind: 'usage',
    hint: `use ${flag} yes or ${flag} no`,
  })
}

function parseUtilization(text: string): Settings['utilizationSettings'] {
  if (text === 'off') return { frequencyMinutes: null, utilizationEnabled: false }
  if (/^[1-9]\d{0,8}$/.test(text)) {
    return { frequencyMinutes: Number(text), utilizationEnabled: true }
  }
  throw new DashkeepError(
    `Cannot use --utilization ${text}: it is neither a number of minutes nor off`,
    {
      kind: 'usage',
      hint: 'use for example --utilization 10 or --utilization off',
    },
  )
}

/** Shows the plan, asks, replaces the settings and waits until the service lists the new ones. */
async function change(
  terminal: Terminal,
  options: ChangeOptions,
  wanted: (present: SubAccount, before: Settings) => Settings,
): Promise<number> {
  const accountId = parseSubAccountId(options.id)
  await using managing = await openManagement(terminal, options)
  const { service, mainId } = managing
  const { signal } = terminal
  const present = findSubAccount(await service.listSubAccounts({ signal }), accountId, mainId)
  const plan = planChange(present, wanted(present, settingsOf(present)))
  if (!terminal.json) printPlan(terminal, plan, options)
  const question = `Replace the settings of sub account ${accountId}?`
  const mayAsk = plan.changes.length > 0 && !options.dryRun
  const answer = mayAsk ? await confirm(terminal, question, options) : 'no'
  const agreed = answer === 'yes'
  if (agreed) terminal.progress.begin('sending the settings')
  const applied = agreed
    ? await applyChange(service, plan, { ...managing, force: options.force, signal })
    : undefined
  const { changes, after } = plan
  if (terminal.json) {
    const { unshown, error } = applied ?? {}
    const shown = unshown && unshown.length === 0
    const result = { done: agreed, accountId, changes, body: after, shown, unshown }
    terminal.printJson({ ...result, error: error?.message })
  } else printOutcome(terminal, applied, { plan, options })
  if (answer === 'unasked') throw notConfirmed(`change the sub account ${accountId}`)
  return applied && applied.unshown.length > 0 ? exitCodes.partly : exitCodes.done
}

function printPlan(terminal: Terminal, plan: PlannedChange, { dryRun }: ChangeOptions): void {
  terminal.print(`Sub account ${nameAccount(plan)}`)
  printChanges(terminal, plan.changes)
  if (dryRun) printBody(terminal, plan.after)
}

/** Prints one line for each setting that changes. */
export function printChanges({ colors, print }: Terminal, changes: readonly SettingChange[]): void {
  for (const { member, before, after } of changes) {
    const leftOut =
      after === undefined ? colors.yellow(' (not in the document; the service may reset it)') : ''
    print(
      `  ${colors.yellow('~')} ${member}: ${colors.red(formatValue(before))} → ${colors.green(formatValue(after))}${leftOut}`,
    )
  }
}

function printOutcome(
  terminal: Terminal,
  applied: Awaited<ReturnType<typeof applyChange>> | undefined,
  { plan, options }: { plan: PlannedChange; options: ChangeOptions },
): void {
  const { colors } = terminal
  if (plan.changes.length === 0) terminal.print('Nothing to change')
  else if (options.dryRun) terminal.print('Nothing was changed; this is the body of the request')
  else if (applied === undefined) terminal.print('Nothing was changed')
  else if (applied.unshown.length === 0) {
    terminal.print(
      `${colors.green('replaced')} sub account ${plan.accountId}; the service lists the new settings`,
    )
  } else {
    terminal.print(
      `${colors.yellow('replaced')} sub account ${plan.accountId}; the service accepted the request but does not list the new settings yet`,
    )
    printChanges(terminal, applied.unshown)
    if (applied.error) terminal.print(`  ${applied.error.message}`)
  }
}
