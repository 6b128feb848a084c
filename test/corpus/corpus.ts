import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { expect, vi } from 'vitest'
import type { Environment } from '../../src/config/config.ts'
import { type ArchivePlace, makeBucketPlace, makeFolderPlace } from '../e2e/archive-place.ts'
import { shopId, type Trial, types } from '../e2e/trial.ts'
import { leaveOut } from '../left-out.ts'
import { findRealS3Server } from '../s3-server/ceph.ts'

/** The folder of real saved objects; none of them is part of this repository. */
export const corpus = process.env.DASHKEEP_TEST_CORPUS ?? ''

const withBucket = corpus !== '' && findRealS3Server() !== undefined

/** The kinds of place that are there, each made anew by its function. */
export const places: [string, () => Promise<ArchivePlace>][] = [
  ['a folder', makeFolderPlace],
  ...(withBucket
    ? [['a bucket of Ceph', makeBucketPlace] as [string, typeof makeBucketPlace]]
    : []),
]

/** Says what is left out, and how to include it. */
export function reportLeftOut(what: string): void {
  if (corpus === '') {
    leaveOut(what, 'by naming their folder in DASHKEEP_TEST_CORPUS')
  } else if (!withBucket) {
    leaveOut(`${what} in a bucket`, 'by naming a server in DASHKEEP_TEST_S3_ENDPOINT')
  }
}

/** Sets the variables that the S3 client reads from the process itself, until they are unstubbed. */
export function stubCredentials({ env }: ArchivePlace): void {
  for (const [name, value] of Object.entries(env)) {
    if (name.startsWith('AWS_')) vi.stubEnv(name, value)
  }
}

/** Unpacks the dated folders of the history. */
export async function unpackHistory(folder: string): Promise<void> {
  const archive = zstdDecompressSync(await readFile(join(corpus, 'beats-history.tar.zst')))
  const tar = spawn('tar', ['-x', '-C', folder], { stdio: ['pipe', 'inherit', 'inherit'] })
  tar.stdin.end(archive)
  const [code] = await once(tar, 'close')
  if (code !== 0) throw new Error(`tar ended with ${code}`)
}

/**
 * Takes a snapshot of each date's objects at that date; their documents lie in `history/<date>` of
 * the trial's folder. Returns the dates, oldest first. Falls are accepted: in February 2019 all ids
 * were replaced.
 */
export async function backUpEachDate(
  trial: Trial,
  place: { readonly env: Environment },
): Promise<string[]> {
  const history = join(trial.folder, 'history')
  await mkdir(history)
  await unpackHistory(history)
  const dates = (await readdir(history)).sort()
  for (const date of dates) {
    for (const type of types) {
      const document = await readFile(join(history, date, `${type}.json`))
      trial.sandbox.setObjects(shopId, type, document)
    }
    const { exitCode, stdout } = await trial.runAt(
      new Date(date),
      ['backup', '--accept-fall'],
      place.env,
    )
    expect(exitCode, stdout).toBe(0)
  }
  return dates
}
