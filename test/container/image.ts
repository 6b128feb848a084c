import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Spawned, spawnProcess } from '../e2e/spawn-dashkeep.ts'

const run = promisify(execFile)
const image = 'dashkeep-test'
const root = fileURLToPath(new URL('../..', import.meta.url))

/** All that a cluster can take away from a container. */
const hardening = [
  '--read-only',
  '--cap-drop=ALL',
  '--security-opt=no-new-privileges',
  '--user=10001:10001',
]

/** Runs the Docker client and returns what it prints. Throws when it fails. */
export async function docker(...args: readonly string[]): Promise<string> {
  const { stdout } = await run('docker', args, { maxBuffer: 64 * 1024 * 1024 })
  return stdout
}

export interface BuildOptions {
  /** The name of the image. */
  readonly name?: string
  /** Further options of `docker build`. */
  readonly options?: readonly string[]
}

/** Builds the image from the Dockerfile, as the README does. Throws with the build's output. */
export async function buildImage({ name = image, options = [] }: BuildOptions = {}): Promise<void> {
  await docker('build', ...options, '--tag', name, root).catch((error: { stdout?: string }) => {
    throw new Error(`the image cannot be built: ${error.stdout?.slice(-2000)}`, { cause: error })
  })
}

/** Returns what the template selects of the image's description. */
export function inspectImage(format: string, name = image): Promise<string> {
  return docker('image', 'inspect', '--format', format, name)
}

/** Runs a shell script in the image as root, without a network, and returns its output. */
export function runScript(script: string, name = image): Promise<string> {
  const alone = ['--user=0', '--network=none', '--hostname=dashkeep']
  return docker('run', '--rm', ...alone, '--entrypoint=sh', name, '-euc', script)
}

export interface ContainerOptions {
  readonly env?: Readonly<Record<string, string>>
  /** A folder of this machine, seen under the same path in the container. */
  readonly folder?: string | undefined
  /** Further options of `docker run`. */
  readonly options?: readonly string[]
}

/** A container that runs dashkeep. Disposing removes it. */
export interface Container extends Spawned {
  readonly name: string
}

/** Starts the image with everything taken away; the network is this machine's. */
export function startContainer(
  args: readonly string[],
  { env = {}, folder, options = [] }: ContainerOptions = {},
): Container {
  const name = `dashkeep-test-${randomUUID()}`
  const container = spawnProcess(
    'docker',
    [
      ...['run', '--rm', '--name', name, '--network=host', ...hardening, ...options],
      ...(folder === undefined ? [] : ['--volume', `${folder}:${folder}`]),
      ...Object.keys(env).flatMap((variable) => ['--env', variable]),
      ...[image, ...args],
    ],
    { env: { ...process.env, ...env } },
  )
  return {
    ...container,
    name,
    async [Symbol.asyncDispose]() {
      await docker('rm', '--force', name).catch(() => {})
      await container[Symbol.asyncDispose]()
    },
  }
}

/** Runs a container to its end and returns what it prints. Throws with what it says on failing. */
export async function outputOf(
  args: readonly string[],
  options: ContainerOptions,
): Promise<string> {
  await using container = startContainer(args, options)
  const { exitCode, stdout, stderr } = await container.finished
  if (exitCode !== 0) throw new Error(`exit code ${exitCode} of ${args}: ${stdout}${stderr}`)
  return stdout
}

/** Runs a command of the image's system as root over a folder, in place of dashkeep. */
export function runAsRoot(folder: string, command: string, ...args: string[]): Promise<string> {
  const volume = ['--volume', `${folder}:${folder}`]
  return docker('run', '--rm', '--user=0', ...volume, '--entrypoint', command, image, ...args)
}
