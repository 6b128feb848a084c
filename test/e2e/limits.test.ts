import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import zlib from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { fingerprintOf, type PlantedFile, planted, plantSnapshot } from './planted-archive.ts'
import { type Finished, spawnProcess } from './run-dashkeep.ts'

const MIB = 1024 ** 2

const before = planted.snapshot.replace('20261101', '20261031')

/** Every command that reads objects, and how it ends when a file of the archive is damaged. */
const readers: Readonly<Record<string, number>> = {
  verify: 5,
  [`diff ${before} ${planted.snapshot}`]: 5,
  'history search:a': 3,
  'find text --all': 3,
  'cat search --open': 5,
  'cat search:a': 5,
  'restore --to FOLDER/documents': 5,
  'restore --pretty FOLDER/pretty': 5,
  'restore --ndjson FOLDER/objects.ndjson': 5,
  'restore --drill': 5,
}

describe('a stored file that expands to far more than it should', () => {
  it('ends every reader soon when it holds more objects than an export may', async () => {
    const file = bomb(document(`${'{},'.repeat(3_000_000)}{}`))
    const { runs, peakBytes } = await readAll(file)
    for (const [command, { exitCode, said }] of Object.entries(runs)) {
      expect(`${command}: ${said}`).toMatch(/it holds more than 1000 objects/)
      expect(`${command}: ${exitCode}`).toBe(`${command}: ${readers[command]}`)
    }
    expect(peakBytes).toBeLessThan(200 * MIB)
  })
})

function document(hits: string): string {
  return `{"kibanaVersion":"7.10.2","hits":[${hits}]}`
}

/** Content that is described as what it is. */
function bomb(content: string): PlantedFile {
  const bytes = Buffer.from(content)
  const stored = zlib.zstdCompressSync(bytes)
  return { compression: 'zstd', stored, content: fingerprintOf(bytes), objects: 1 }
}

interface Read {
  readonly exitCode: number
  /** What it printed, as far as a person would read. */
  readonly said: string
}

/** Reads an archive whose second snapshot is this file with every command, in another process. */
async function readAll(
  file: PlantedFile,
): Promise<{ runs: Record<string, Read>; peakBytes: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'dashkeep-limits-'))
  try {
    await plantSnapshot(folder, bomb(document('')), { ...planted, snapshot: before })
    await plantSnapshot(folder, file)
    const config = join(folder, 'dashkeep.yaml')
    await writeFile(config, stringify({ limits: { maxObjects: 1000, maxExportBytes: 100 * MIB } }))
    const env = { DASHKEEP_STORE: pathToFileURL(folder).href, DASHKEEP_CONFIG: config }
    const script = fileURLToPath(new URL('run-in-sequence.ts', import.meta.url))
    const commands = Object.keys(readers).map((line) => line.replace('FOLDER', folder).split(' '))
    await using child = spawnProcess(process.execPath, [script, JSON.stringify(commands)], { env })
    const { stdout, stderr } = await child.finished
    if (!stdout) throw new Error(stderr)
    const { runs, peakBytes } = JSON.parse(stdout) as { runs: Finished[]; peakBytes: number }
    const named = Object.keys(readers).map((command, place) => {
      const { exitCode, stdout, stderr } = runs[place] as Finished
      return [command, { exitCode, said: stderr + stdout.slice(-1000) }]
    })
    return { runs: Object.fromEntries(named), peakBytes }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
