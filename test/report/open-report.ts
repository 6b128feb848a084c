import { complete } from '../../src/config/complete.ts'
import type { FileConfig } from '../../src/config/schema.ts'
import { createLog } from '../../src/log.ts'
import { makeReport } from '../../src/report/make-report.ts'
import type { Report } from '../../src/report/report.ts'
import type { ObjectStore } from '../../src/store/object-store.ts'

/** Makes a report with a configuration file of these contents, and with these accounts. */
export async function openReport(
  store: ObjectStore,
  span: { since: Date; now: Date },
  { file = {}, accountIds = [] }: { file?: FileConfig; accountIds?: readonly number[] } = {},
): Promise<Report> {
  const accounts = accountIds.map((accountId) => ({
    ...{ name: `team-${accountId}`, accountId, pathPrefix: '', token: { env: 'TOKEN' } },
    baseUrl: 'https://service.example',
  }))
  const none = { management: undefined, shard: undefined, findProxy: () => undefined }
  const config = complete(file, { accounts, stores: [], ...none })
  const stream = { write() {} }
  const log = await createLog({ level: 'silent', stream, readable: false, colors: false })
  const { signal } = new AbortController()
  return makeReport(store, config, { ...span, env: {}, log, signal })
}
