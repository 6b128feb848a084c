import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sampleApiToken } from '../../src/sandbox/sample-account.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts'
import { version } from '../../src/version.ts'
import { sentContent, storedContent } from '../e2e/archive-place.ts'
import { accountsOf, jsonLines, until } from '../e2e/run-dashkeep.ts'
import { shopId, types } from '../e2e/trial.ts'
import { leaveOut } from '../left-out.ts'
import {
  buildImage,
  docker,
  inspectImage,
  outputOf,
  runAsRoot,
  runScript,
  startContainer,
} from './image.ts'
import { type ContainerPlace, containersWanted, places, withContainers } from './places.ts'

if (!containersWanted) leaveOut('the image in containers', withContainers)

interface Sbom {
  readonly components: readonly { readonly name: string; readonly version: string }[]
}

// Long enough to build a server's image first.
const timeout = 300_000

describe.skipIf(!containersWanted)('the image, with everything taken away', { timeout }, () => {
  let sandbox: Sandbox
  beforeAll(async () => {
    sandbox = await startSandbox()
    await buildImage()
  }, timeout)
  afterAll(() => sandbox.close())

  /** One account and the archive, by variables alone. */
  function envOf({ env }: ContainerPlace): Record<string, string> {
    return { ...env, DASHKEEP_BASE_URL: sandbox.url, DASHKEEP_API_TOKEN: sampleApiToken }
  }

  describe.each(places)('and its archive in %s', (_name, makePlace) => {
    it('stores what the service sends, lists it and verifies it', async () => {
      await using place = await makePlace()
      const dashkeep = (...args: string[]) =>
        outputOf([...args, '--json'], { env: envOf(place), folder: place.folder })
      const [account] = accountsOf(await dashkeep('backup'))
      expect(account).toMatchObject({ accountId: shopId, result: 'first' })
      const listed = jsonLines(await dashkeep('list'))
      expect(listed).toMatchObject([{ snapshot: account?.snapshot, files: 4 }])
      const verified = jsonLines(await dashkeep('verify'))
      expect(verified).toMatchObject([{ snapshots: 1, bytes: listed[0]?.bytes, defects: 0 }])
      await place.takeOver()
      for (const type of types) {
        const key = `${shopId}/${account?.snapshot}/${type}.json.zst`
        const sent = await sentContent(sandbox, { token: sampleApiToken, type })
        expect(await storedContent(place, key)).toEqual(sent)
      }
    })

    it('stops at SIGTERM with exit code 143 and leaves no snapshot', async () => {
      await using place = await makePlace()
      sandbox.clearRequests()
      sandbox.faults.add({ operation: 'export', type: 'dashboard', hang: true, times: 1 })
      const options = { env: envOf(place), folder: place.folder }
      await using container = startContainer(['backup'], options)
      await until('the last export has begun', () =>
        sandbox.requests().some(({ type }) => type === 'dashboard'),
      )
      await docker('stop', container.name)
      expect(await container.finished).toMatchObject({ exitCode: 143 })
      await place.takeOver()
      expect(await place.keys()).toEqual([])
    })
  })

  it('is Node itself, as user 10001, without rights', async () => {
    await using container = startContainer(['sandbox'])
    await until('it serves', () => container.stdout().includes('The service runs'))
    const status = await docker('exec', container.name, 'cat', '/proc/1/status')
    expect(status).toMatch(/^Uid:\t10001\t10001\t10001\t10001$/m)
    expect(status).toMatch(/^Gid:\t10001\t10001\t10001\t10001$/m)
    expect(status).toMatch(/^CapEff:\t0+$/m)
    expect(status).toMatch(/^NoNewPrivs:\t1$/m)
    const command = await docker('exec', container.name, 'cat', '/proc/1/cmdline')
    expect(command.split('\0')[0]).toBe('node')
    await docker('stop', container.name)
    expect(await container.finished).toMatchObject({ exitCode: 143 })
  })

  it('makes files that belong to user 10001 and that nobody else may read', async () => {
    const [, makeFolder] = places[0]
    await using place = await makeFolder()
    await outputOf(['backup'], { env: envOf(place), folder: place.folder })
    const find = ['-type', 'f', '-printf', '%U:%G %m\n']
    const files = await runAsRoot(place.folder, 'find', place.folder, ...find)
    expect(files.trim().split('\n')).toEqual(Array(4).fill('10001:10001 600'))
  })

  it('asks for no other user, also without options', async () => {
    expect(await inspectImage('{{.Config.User}}')).toBe('10001:10001\n')
  })

  it('says how it is used', async () => {
    await using container = startContainer(['--help'])
    const { exitCode, stdout, stderr } = await container.finished
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^Usage: dashkeep /)
    expect(stdout).toMatch(/^ +backup /m)
  })

  it('has an SBOM of exactly the packages in its bundle', async () => {
    const licenses = await runScript('cat dist/LICENSES.txt')
    const bundled = [...licenses.matchAll(/^(\S+) (\d\S*) \(.+\)$/gm)]
    const sbom: Sbom = JSON.parse(await runScript('cat dist/sbom.cdx.json'))
    const listed = sbom.components.map(({ name, version }) => `${name} ${version}`)
    expect(listed.toSorted()).toEqual(bundled.map(([, name, its]) => `${name} ${its}`).toSorted())
    expect(listed).toEqual(expect.arrayContaining([expect.stringMatching(/^undici \d/)]))
  })

  it('has what the toolbox of k8s/ needs: sleep to wait, and tar to copy files out', async () => {
    const command = ['--entrypoint', 'sh', 'dashkeep-test', '-c', 'sleep 0h && command -v tar']
    expect(await docker('run', '--rm', ...command)).toMatch(/\/tar\n$/)
  })

  it('uses half of the memory of the container for objects, so that it collects before it is killed', async () => {
    const limit = 'console.log(v8.getHeapStatistics().heap_size_limit / 1024 ** 2)'
    const options = ['--memory=256m', '--memory-swap=256m', '--entrypoint=node']
    const printed = await docker('run', '--rm', ...options, 'dashkeep-test', '--eval', limit)
    // V8 adds the space for young objects.
    expect(Number(printed)).toBe(128 + 3)
  })

  it('has the command dashkeep for exec, with the same options of Node', async () => {
    await using container = startContainer(['sandbox'])
    await until('it serves', () => container.stdout().includes('The service runs'))
    const execute = (...args: string[]) => docker('exec', container.name, ...args)
    expect(await execute('cat', '/proc/1/cmdline')).toBe('node\0/usr/local/bin/dashkeep\0sandbox\0')
    expect(await execute('sh', '-c', 'echo $NODE_OPTIONS')).toContain('--max-semi-space-size=')
    expect(await execute('dashkeep', '--version')).toBe(`${version}\n`)
    expect(await execute('dashkeep', 'config', 'schema')).toContain('"accounts"')
  })

  it('compiles nothing that the build has compiled, and nobody can change it', async () => {
    const env = { NODE_DEBUG_NATIVE: 'COMPILE_CACHE', DASHKEEP_API_TOKEN: 'any' }
    await using container = startContainer(['backup', '--store', '/nowhere'], { env })
    const { stdout, stderr } = await container.finished
    const log = stdout + stderr
    const read = log.match(/reading cache from \S+ for CommonJS /g) ?? []
    expect(read.length).toBeGreaterThan(10)
    expect(log.match(/V8 code cache for CommonJS \S+ was accepted/g)).toHaveLength(read.length)
    const writable = 'find /app -user 10001 -or -perm -o+w -not -type l'
    expect(await runScript(writable)).toBe('')
  })

  it('also runs as another user, who has no compile cache', async () => {
    await using container = startContainer(['--version'], { options: ['--user=12345:0'] })
    expect(await container.finished).toMatchObject({
      exitCode: 0,
      stdout: `${version}\n`,
      stderr: '',
    })
  })

  it('says what is missing when nothing is configured', async () => {
    await using container = startContainer(['backup'])
    const { exitCode, stderr } = await container.finished
    expect(exitCode).toBe(2)
    expect(stderr).toContain('DASHKEEP_API_TOKEN: not set')
  })
})
