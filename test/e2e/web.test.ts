import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { expect, it } from 'vitest'
import { formOf } from '../web/open-restore-pages.ts'
import { until } from './run-dashkeep.ts'
import { spawnDashkeep } from './spawn-dashkeep.ts'
import { shopId, startTrial, type Trial } from './trial.ts'

it('serves the archive to the browser that opens the one-time address, and ends on SIGTERM', async () => {
  await using trial = await startTrial()
  expect((await trial.run(['backup'])).exitCode).toBe(0)
  await using web = spawnDashkeep(['web', '--listen', '127.0.0.1:0'], { env: trial.env })
  await until('the address is printed', () => web.stdout().includes('Ctrl-C'))
  const address = /http:\S+/.exec(web.stdout())?.[0] ?? ''
  expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/open\?token=[\w-]{43}$/)

  const opened = await fetch(address, { redirect: 'manual' })
  expect(opened.status).toBe(303)
  const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? ''
  const page = await fetch(new URL('/', address), { headers: { cookie } })
  expect(page.status).toBe(200)
  expect(page.headers.get('cache-control')).toBe('no-store')
  expect(await statusOf(address, 'not a host')).toEqual([400, 'no-store'])
  expect(await statusOf(address, 'evil.example')).toEqual([421, 'no-store'])
  const text = await page.text()
  expect(text).toContain('The account has a good backup.')
  const style = await fetch(new URL('/style.css', address))
  expect(style.headers.get('content-type')).toBe('text/css; charset=utf-8')

  expect((await fetch(address)).status).toBe(403)
  expect((await fetch(new URL('/', address))).status).toBe(403)
  expect((await fetch(new URL('/', address), { headers: { cookie }, method: 'POST' })).status).toBe(
    405,
  )

  web.kill('SIGTERM')
  const { exitCode, stderr } = await web.finished
  expect(exitCode).toBe(143)
  expect(stderr).not.toMatch(/token|at .*\.ts/)
})

it('restores with --allow-restore, and SIGTERM ends a restore as it ends the verb', async () => {
  await using trial = await startTrial({ extraOperations: true })
  expect((await trial.run(['backup'])).exitCode).toBe(0)
  const [snapshot] = await trial.snapshots()
  trial.sandbox.setObjects(shopId, 'search', [])
  const args = ['web', '--listen', '127.0.0.1:0', '--allow-restore']
  await using web = spawnDashkeep(args, { env: trial.env })
  await until('the address is printed', () => web.stdout().includes('Ctrl-C'))
  expect(web.stdout()).toContain('The pages can restore objects')
  const address = /http:\S+/.exec(web.stdout())?.[0] ?? ''
  const { origin } = new URL(address)
  const opened = await fetch(address, { redirect: 'manual' })
  const headers = { cookie: opened.headers.get('set-cookie')?.split(';')[0] ?? '', origin }
  const path = `${origin}/accounts/${shopId}/snapshots/${snapshot}/restore`
  const plan = await (await fetch(`${path}?all=1`, { headers })).text()
  const form = formOf(plan, `${new URL(path).pathname}/start`)
  form.set('name', 'Shop')
  const post = (body: URLSearchParams) =>
    fetch(`${path}/start`, { method: 'POST', headers, body, redirect: 'manual' })
  expect((await post(new URLSearchParams({ a: 'x'.repeat(2 * 1024 ** 2) }))).status).toBe(413)

  trial.sandbox.faults.add({ operation: 'import', after: 1, hang: true })
  trial.sandbox.clearRequests()
  const started = await post(form)
  expect(started.status).toBe(303)
  await until('objects are sent', () => importsOf(trial).length === 2)
  const location = new URL(started.headers.get('location') ?? '', origin)
  expect(await (await fetch(location, { headers })).text()).toContain('of 4 objects')
  web.kill('SIGTERM')
  const { exitCode, stderr } = await web.finished
  expect(exitCode).toBe(143)
  expect(stderr).toMatch(/"user":"this browser".*"msg":"restore started"/)
  expect(stderr).toMatch(/"outcome":"interrupted".*"msg":"restore incomplete"/)
  expect(stderr).not.toContain(trial.env.DASHKEEP_API_TOKEN)
})

it('warns that the store holds no snapshot, as `list` does', async () => {
  await using trial = await startTrial()
  const env = { ...trial.env, DASHKEEP_STORE: 'file:///no-such-folder' }
  await using web = spawnDashkeep(['web', '--listen', '127.0.0.1:0'], { env })
  await until('the warning is logged', () => web.stderr().includes('holds no snapshot'))
  expect(web.stderr()).toContain('file:///no-such-folder holds no snapshot')
  expect((await trial.run(['list'], env)).stdout).toContain(
    'file:///no-such-folder holds no snapshot',
  )
})

it('refuses --allow-restore without the token of an account', async () => {
  await using trial = await startTrial()
  const without = { DASHKEEP_API_TOKEN: undefined, DASHKEEP_BASE_URL: undefined }
  const { exitCode, stderr } = await trial.run(['web', '--allow-restore'], without)
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('DASHKEEP_API_TOKEN: not set')])
})

it.each([
  [['--listen', '0.0.0.0:5338'], 'only 127.0.0.1 is allowed'],
  [['--listen', 'nowhere'], 'it is not host:port'],
  [['--behind-proxy', 'https://dashkeep.example.com'], '--user-header is missing'],
  [['--user-header', 'X-User'], '--behind-proxy is missing'],
  [['--behind-proxy', 'https://a.example/path', '--user-header', 'X-User'], 'it is not an origin'],
  [['--behind-proxy', 'ftp://a.example', '--user-header', 'X-User'], 'it is not an origin'],
  [['--behind-proxy', 'https://a.example', '--user-header', 'X User'], 'not the name of a header'],
  ...['Host', 'cookie', 'Origin', 'Authorization', 'Referer', 'Sec-Fetch-Site', 'Content-Type'].map(
    (name): [string[], string] => [
      ['--behind-proxy', 'https://a.example', '--user-header', name],
      `Cannot use --user-header ${name}: browsers or connections set this header`,
    ],
  ),
  [['--behind-proxy', 'https://a.example', '--user-header', 'X-Forwarded-For'], 'set this header'],
])('refuses %j', async (options, state) => {
  await using trial = await startTrial()
  const { exitCode, stderr } = await trial.run(['web', ...options])
  expect(exitCode).toBe(2)
  expect(stderr).toContain(state)
  expect(stderr).toContain('hint:')
})

function importsOf({ sandbox }: Trial) {
  return sandbox.requests().filter(({ operation }) => operation === 'import')
}

/** The status and caching of an answer to a request for another host. */
async function statusOf(address: string, host: string): Promise<unknown[]> {
  const [answer] = (await once(get(address, { headers: { host } }), 'response')) as [
    IncomingMessage,
  ]
  answer.resume()
  return [answer.statusCode, answer.headers['cache-control']]
}
