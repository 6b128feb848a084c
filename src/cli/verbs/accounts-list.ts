import { mainMark } from '../../accounts/document.ts'
import { sumGb } from '../../accounts/move-plan.ts'
import type { SubAccount } from '../../accounts/service.ts'
import { sharingIds } from '../../accounts/settings.ts'
import { exitCodes } from '../../run/exit-codes.ts'
import { plural } from '../../wording.ts'
import { formatTable } from '../print/table.ts'
import type { Terminal } from '../terminal.ts'
import { type ManagementOptions, nameAccount, openManagement } from './management.ts'

/** `dashkeep accounts list`: lists the sub accounts and their settings. */
export async function listAccounts(
  terminal: Terminal,
  options: ManagementOptions,
): Promise<number> {
  await using managing = await openManagement(terminal, options)
  const { service, mainId } = managing
  const accounts = await service.listSubAccounts(terminal)
  if (terminal.json) {
    terminal.printJson({
      main: service.main,
      accounts: accounts.map((account) => {
        return { ...account, [mainMark]: account.accountId === mainId }
      }),
    })
  } else {
    terminal.print(`Main account ${nameAccount(service.main)} at ${service.address}`)
    print(terminal, accounts, mainId)
  }
  return exitCodes.done
}

function print(terminal: Terminal, accounts: readonly SubAccount[], mainId: number): void {
  const { colors } = terminal
  const rows = accounts.map((account) => [
    String(account.accountId),
    account.accountName,
    account.maxDailyGB === null ? 'flexible' : String(account.maxDailyGB),
    String(account.retentionDays),
    account.searchable ? 'yes' : 'no',
    account.accessible ? 'yes' : 'no',
    account.docSizeSetting ? 'yes' : 'no',
    formatUtilization(account),
    sharingIds(account.sharingObjectsAccounts).join(', '),
    account.accountId === mainId ? colors.cyan('main account') : '',
  ])
  const header = ['ACCOUNT', 'NAME', 'GB/DAY', 'DAYS', 'SEARCHABLE', 'ACCESSIBLE', 'DOC SIZE']
  header.push('UTILIZATION', 'SHARES WITH', '')
  const optional = ['UTILIZATION', 'DOC SIZE', 'SEARCHABLE', 'ACCESSIBLE']
  const layout = { right: [0, 2, 3], flexible: ['NAME', 'SHARES WITH'], optional }
  if (rows.length > 0) terminal.print(formatTable(terminal, header, rows, layout))
  const subAccounts = accounts.filter(({ accountId }) => accountId !== mainId)
  const totalGb = sumGb(subAccounts.map(({ maxDailyGB }) => maxDailyGB ?? 0))
  terminal.print(`${plural(subAccounts.length, 'sub account')}, ${totalGb} GB per day in total`)
}

function formatUtilization({ utilizationSettings }: SubAccount): string {
  const { utilizationEnabled, frequencyMinutes } = utilizationSettings
  if (!utilizationEnabled) return 'off'
  return frequencyMinutes === null ? 'on' : `every ${frequencyMinutes} min`
}
