import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { expect, it } from 'vitest'
import { spawnDashkeep, until } from './run-dashkeep.ts'
import { startTrial } from './trial.ts'

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

it.each([
  [['--listen', '0.0.0.0:5338'], 'only 127.0.0.1 is allowed'],
  [['--listen', 'nowhere'], 'it is not host:port'],
  [['--behind-proxy', 'https://dashkeep.example.com'], '--user-header is missing'],
  [['--user-header', 'X-User'], '--behind-proxy is missing'],
  [['--behind-proxy', 'https://a.example/path', '--user-header', 'X-User'], 'it is not an origin'],
  [['--behind-proxy', 'ftp://a.example', '--user-header', 'X-User'], 'it is not an origin'],
  [['--behind-proxy', 'https://a.example', '--user-header', 'X User'], 'not the name of a header'],
])('refuses %j', async (options, state) => {
  await using trial = await startTrial()
  const { exitCode, stderr } = await trial.run(['web', ...options])
  expect(exitCode).toBe(2)
  expect(stderr).toContain(state)
  expect(stderr).toContain('hint:')
})

/** The status and caching of an answer to a request for another host. */
async function statusOf(address: string, host: string): Promise<unknown[]> {
  const [answer] = (await once(get(address, { headers: { host } }), 'response')) as [
    IncomingMessage,
  ]
  answer.resume()
  return [answer.statusCode, answer.headers['cache-control']]
}
