import { describe, expect, it } from 'vitest'
import { findProblems } from '../../src/config/load.ts'
import type { Section } from '../../src/config/section.ts'

async function problemsOf(document: Section): Promise<string[]> {
  return (await findProblems(document, (place) => place)).problems
}

const account = { name: 'a', baseUrl: 'https://api.example.com', token: { env: 'TOKEN' } }

describe('the schema of the configuration file', () => {
  it('accepts an empty file, and one account in a folder', async () => {
    expect(await problemsOf({})).toEqual([])
    const store = { url: './backups' }
    expect(await problemsOf({ accounts: [account], store })).toEqual([])
  })

  it.each([
    [{ store: { url: 'ftp://host/x' } }, 'store.url: expected s3://bucket/prefix, file:///folder'],
    [{ store: { url: 's3://key@bucket' } }, 'store.url: expected s3://bucket/prefix'],
    [{ service: { baseUrl: 'https://a:b@example.com' } }, 'service.baseUrl: expected an address'],
    [{ service: { pathPrefix: '/v1/' } }, 'service.pathPrefix: expected a path such as /v1'],
    [
      { types: ['dashbord'] },
      'types.0: not a known type, found "dashbord"; did you mean dashboard',
    ],
    [{ compresion: 'zstd' }, 'compresion: unknown key; did you mean compression?'],
    [{ worker: { listen: 'here' } }, 'worker.listen: expected host:port'],
    [{ worker: { listen: '0.0.0.0:70000' } }, 'worker.listen: expected a port up to 65535'],
    [{ worker: { grace: '25d' } }, 'worker.grace: expected at most 2147483647 ms'],
    [{ schedule: {} }, 'schedule.cron: missing, and DASHKEEP_SCHEDULE is not set'],
    [{ schedule: { cron: '61 * * * *' } }, 'schedule.cron: expected a cron expression'],
    [{ schedule: { cron: '0 0 31 2 *' } }, 'schedule.cron: never due'],
    [{ schedule: { cron: '0 3 * * *', deadline: '0s' } }, 'expected a duration above 0'],
    [{ schedule: { cron: '0 3 * * *', timeZone: 'Mars' } }, 'schedule.timeZone: expected a time'],
    [{ limits: { attempts: 0 } }, 'limits.attempts: expected at least 1, found 0'],
    [{ notifications: [{ kind: 'pager' }] }, 'notifications.0.kind'],
    [{ metrics: { textfile: 'm.txt' } }, 'metrics.textfile: expected a path that ends in .prom'],
  ])('refuses %j', async (document, problem) => {
    const problems = await problemsOf(document)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(problem)
  })

  it('names every problem, with its path', async () => {
    const problems = await problemsOf({ compression: 'zip', retention: { daily: 'x' }, colour: 1 })
    expect(problems.map((problem) => problem.split(':')[0]).toSorted()).toEqual([
      'colour',
      'compression',
      'retention.daily',
    ])
  })

  it('never shows what may be a secret', async () => {
    const secret = '0b6a4c1e-planted-secret'
    const problems = await problemsOf({
      accounts: [{ ...account, token: secret }],
      notifications: [{ kind: 'slack', url: `https://hooks.example.com/${secret}` }],
      encryption: { passphrase: secret },
      store: { url: `s3://${secret}@bucket/x` },
    })
    expect(problems).toHaveLength(4)
    expect(problems.join()).not.toContain('planted')
  })
})

describe('settings that do not fit together', () => {
  it.each([
    [{ accounts: [account, account] }, 'accounts.1.name: "a" comes twice'],
    [{ types: ['search', 'search'] }, 'types.1: "search" comes twice'],
    [{ accounts: [{ ...account, baseUrl: undefined }] }, 'accounts.0.baseUrl: missing'],
    [{ types: ['manifest'], compression: 'none' }, 'types: manifest needs compression'],
    [{ store: { url: 'file:///x', tags: true, encryption: { mode: 'sse-s3' } } }, 'only an s3://'],
    [{ store: { encryption: { mode: 'sse-s3', keyId: 'k' } } }, 'a keyId belongs to sse-kms'],
    [{ encryption: {} }, 'encryption: expected recipients, passphrase or identity'],
    [
      { schedule: { cron: '0 3 * * *', pruneAfter: true } },
      'schedule.pruneAfter: needs retention, which says what to keep',
    ],
  ])('are refused: %j', async (document, problem) => {
    expect(await problemsOf(document)).toEqual([expect.stringContaining(problem)])
  })
})
