/**
 * Writes compiled code beside the files of the bundle: runs the verbs that are in a hurry, and
 * keeps what V8 has compiled by then. So it also shows that the bundle works.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { cachedDataVersionTag, setFlagsFromString } from 'node:v8'
import type { runCli } from '../src/cli/run.ts'
import { sampleApiToken } from '../src/sandbox/sample-account.ts'
import { startSandbox } from '../src/sandbox/sandbox.ts'
import { startS3Server } from '../test/s3-server/s3-server.ts'
import { cacheOf, createLoader } from './loader.ts'

const tag = cachedDataVersionTag()
// V8 would forget functions that have not run for a while.
setFlagsFromString('--no-flush-bytecode')

const loader = createLoader(join(import.meta.dirname, '../dist/program'))
const program = loader.load('run.cjs') as { runCli: typeof runCli }
await runVerbs()

// Compiled code is taken under the flags alone under which it was written: those of a start.
setFlagsFromString('--flush-bytecode')
setFlagsFromString('--semi-space-growth-factor=2')
if (cachedDataVersionTag() !== tag) throw new Error('Cannot keep compiled code: flags have changed')
for (const [file, script] of loader.scripts)
  await writeFile(cacheOf(file), script.createCachedData())

async function runVerbs(): Promise<void> {
  await using service = await startSandbox()
  await using bucket = await startS3Server()
  const folder = await mkdtemp(join(tmpdir(), 'dashkeep-build-'))
  const env = {
    DASHKEEP_BASE_URL: service.url,
    DASHKEEP_API_TOKEN: sampleApiToken,
    AWS_ENDPOINT_URL_S3: bucket.url,
    AWS_ACCESS_KEY_ID: bucket.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: bucket.credentials.secretAccessKey,
  }
  try {
    await run(['--help'], env)
    for (const store of [`s3://${bucket.bucketName}/archive`, pathToFileURL(folder).href]) {
      for (const verb of ['backup', 'backup --full', 'list', 'show', 'status', 'verify']) {
        await run([...verb.split(' '), '--store', store], env)
      }
    }
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function run(args: readonly string[], env: Readonly<Record<string, string>>): Promise<void> {
  const said: string[] = []
  const listener = new Writable({
    write(chunk, _encoding, done) {
      said.push(String(chunk))
      done()
    },
  })
  const exitCode = await program.runCli(args, {
    env,
    stdout: listener,
    stderr: listener,
    signal: AbortSignal.timeout(60_000),
    now: () => new Date(),
  })
  if (exitCode !== 0) throw new Error(`Cannot run ${args.join(' ')}: ${exitCode}\n${said.join('')}`)
}
