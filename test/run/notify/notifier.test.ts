import { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { NotificationConfig } from '../../../src/config/notifications.ts'
import { type FindProxy, noProxy, readProxies } from '../../../src/http/proxy.ts'
import { createLog } from '../../../src/log.ts'
import { createNotifier } from '../../../src/run/notify/notifier.ts'
import { jsonLines } from '../../e2e/run-dashkeep.ts'
import { startTlsFront } from '../../http/tls-front.ts'
import { startReceiver } from './receiver.ts'
import { failureOf, outcomeOf, runOf } from './run-outcomes.ts'

const failed = runOf([failureOf({ account: 'a<b>&c' })], { exitCode: 3 })
const good = runOf([outcomeOf()])

/** A notifier. The name of each variable is used as the address. */
async function notifierOf(
  receivers: readonly NotificationConfig[],
  { findProxy = noProxy }: { findProxy?: FindProxy } = {},
) {
  const chunks: Buffer[] = []
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk)
      done()
    },
  })
  const failures: string[] = []
  const notifier = createNotifier(receivers, {
    readAddress: async (source) => ('env' in source ? source.env : source.file),
    logTail: () => 'the log\n',
    log: await createLog({ level: 'info', stream, readable: false, colors: false }),
    findProxy,
    onFailure: (kind) => failures.push(kind),
    retryBaseMs: 1,
    accounts: 1,
    isPartial: false,
  })
  return { notifier, failures, log: () => Buffer.concat(chunks).toString() }
}

function ping(url: string, exitStatus = false): NotificationConfig {
  return { kind: 'ping', url: { env: url }, exitStatus }
}

describe('a notifier', () => {
  it('reports a proxy that cannot be reached, without its password', async () => {
    const findProxy = readProxies({ HTTP_PROXY: 'http://me:sesame@127.0.0.1:9' }, [])
    const started = await notifierOf([ping('http://hooks.dashkeep.test/uuid')], { findProxy })
    await started.notifier.started()
    expect(started.failures).toEqual(['ping'])
    expect(started.log()).toContain(
      'Cannot post to hooks.dashkeep.test: the proxy 127.0.0.1:9 (HTTP_PROXY) cannot be reached (ECONNREFUSED)',
    )
    expect(started.log()).not.toContain('sesame')
  })

  it('reports an untrusted certificate with a hint, and does not repeat the request', async () => {
    await using receiver = await startReceiver()
    await using front = await startTlsFront(receiver.url)
    const started = await notifierOf([ping(`https://127.0.0.1:${front.port}/uuid`)])
    await started.notifier.started()
    expect(jsonLines(started.log())).toMatchObject([
      {
        msg: 'notification failed',
        reason: expect.stringMatching(/^Cannot post to 127\.0\.0\.1:\d+: its certificate is not/),
        hint: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
      },
    ])
  })

  it('pings start, success and failure, with text and log', async () => {
    await using receiver = await startReceiver()
    const { notifier } = await notifierOf([ping(`${receiver.url}/uuid/?a=b`)])
    await notifier.started()
    await notifier.ended(failed)
    await notifier.started()
    await notifier.ended(good)
    expect(receiver.received.map(({ path }) => path)).toEqual([
      '/uuid/start?a=b',
      '/uuid/fail?a=b',
      '/uuid/start?a=b',
      '/uuid/?a=b',
    ])
    expect(receiver.received[1]?.body).toMatch(
      /^dashkeep: of 1 account 1 failed[\s\S]*\n\nthe log\n$/,
    )
  })

  it('pings the exit status with exitStatus', async () => {
    await using receiver = await startReceiver()
    const { notifier } = await notifierOf([ping(`${receiver.url}/uuid`, true)])
    await notifier.ended(failed)
    await notifier.ended(good)
    expect(receiver.received.map(({ path }) => path)).toEqual(['/uuid/3', '/uuid'])
  })

  it('sends Slack text without markup', async () => {
    await using receiver = await startReceiver()
    const url = { env: receiver.url }
    const { notifier } = await notifierOf([{ kind: 'slack', url, on: ['failure'] }])
    await notifier.started()
    await notifier.ended(good)
    await notifier.ended(failed)
    const [message, ...more] = receiver.jsonAt('/')
    expect(more).toEqual([])
    expect(Object.keys(message ?? {})).toEqual(['text'])
    expect(message?.text).toContain('failed a&lt;b&gt;&amp;c: ')
  })

  it('sends the user and password of the address in a header', async () => {
    await using receiver = await startReceiver()
    const address = receiver.url.replace('//', '//user:pass%20word@')
    const { notifier } = await notifierOf([ping(address)])
    await notifier.ended(good)
    const expected = `Basic ${Buffer.from('user:pass word').toString('base64')}`
    expect(receiver.received[0]?.headers.authorization).toBe(expected)
  })

  it('repeats after temporary failures, and sends the next message afterwards', async () => {
    const statuses = [503, 429]
    await using receiver = await startReceiver(() => statuses.shift() ?? 200)
    const { notifier, failures } = await notifierOf([ping(`${receiver.url}/uuid`)])
    void notifier.started()
    await notifier.ended(good)
    const paths = receiver.received.map(({ path }) => path)
    expect(paths).toEqual(['/uuid/start', '/uuid/start', '/uuid/start', '/uuid'])
    expect(failures).toEqual([])
  })

  it.each([
    ['refuses', 404, 1, 'it answers with status 404'],
    ['redirects', 302, 1, 'it answers with status 302'],
    ['stays broken', 500, 3, 'it answers with status 500'],
  ])('logs a receiver that %s, and notifies the others', async (_, status, attempts, reason) => {
    await using bad = await startReceiver(() => status)
    await using fine = await startReceiver()
    const receivers = [ping(`${bad.url}/secret-uuid`), ping(fine.url)]
    const { notifier, failures, log } = await notifierOf(receivers)
    await notifier.ended(good)
    expect([bad.received.length, fine.received.length]).toEqual([attempts, 1])
    expect(failures).toEqual(['ping'])
    expect(jsonLines(log())).toMatchObject([
      { msg: 'notification failed', kind: 'ping', reason: expect.stringContaining(reason) },
    ])
    expect(log()).not.toContain('secret-uuid')
  })

  it.each([
    ['no server listens', 'http://127.0.0.1:1/secret-uuid'],
    ['it is not a URL', 'secret-uuid'],
    ['it has another scheme', 'ftp://host/secret-uuid'],
    ['it has an invalid user', 'http://%zz:secret-uuid@127.0.0.1:1/'],
  ])('keeps the address secret when %s', async (_, address) => {
    const { notifier, failures, log } = await notifierOf([ping(address)])
    await notifier.ended(good)
    expect(failures).toEqual(['ping'])
    expect(log()).not.toContain('secret-uuid')
  })
})
