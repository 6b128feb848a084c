import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import zlib from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { fingerprintOf, type PlantedFile, planted, plantSnapshot } from './planted-archive.ts'
import type { Finished } from './run-dashkeep.ts'
import { spawnProcess } from './spawn-dashkeep.ts'
import { shopId, startTrial } from './trial.ts'

const MIB = 1024 ** 2

const before = planted.snapshot.replace('20261101', '20261031')
const earlier = { ...planted, snapshot: before }

/** Every command that reads objects, and how it ends when a file of the archive is damaged. */
const readers: Readonly<Record<string, number>> = {
  verify: 5,
  [`diff ${before} ${planted.snapshot}`]: 5,
  'history search:a': 3,
  'find text --all': 3,
  'cat search': 5,
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
    expect(peakBytes).toBeLessThan(MOST_BYTES)
  })

  it('ends every reader at once when it is described as larger than an export may be', async () => {
    const file = { ...zeros(4000 * MIB), content: described(4000 * MIB) }
    const { runs } = await readAll(file)
    for (const [command, { exitCode, said }] of Object.entries(runs)) {
      expect(`${command}: ${said}`).toMatch(
        /expands to 4194304000 bytes, more than limits.maxExportBytes allows \(104857600\)/,
      )
      // A drill says nothing about a snapshot that is beyond its limits.
      const expected = command === 'restore --drill' ? 2 : readers[command]
      expect(`${command}: ${exitCode}`).toBe(`${command}: ${expected}`)
    }
  })

  it('does not prevent a backup, which reports what it could not compare with', async () => {
    await using trial = await startTrial()
    const file = { ...bomb(document(`${'{},'.repeat(20_000)}{}`)), service: trial.sandbox.url }
    await plantSnapshot(trial.archive, file, { ...planted, accountId: shopId })
    const config = await trial.write('tight.yaml', { limits: { maxObjects: 1000 } })
    const { exitCode, stdout } = await trial.run(['backup', '--config', config])
    expect(stdout).toMatch(/the previous snapshot is damaged: .* it holds more than 1000 objects/)
    expect(exitCode).toBe(3)
  })

  const start = '{"kibanaVersion":"7.10.2","hits":[{"_id":"search:a","a":'
  const bombs: [what: string, file: PlantedFile, problem: RegExp][] = [
    [
      'a frame that holds more than is described',
      { ...zeros(900 * MIB), content: described(50 * MIB) },
      /it cannot be decoded \(more content than described\)/,
    ],
    [
      'a frame that is to be decoded with 128 MiB of it in memory',
      { ...zeros(90 * MIB, { windowLog: 27 }), content: described(90 * MIB) },
      /it cannot be decoded \(Frame requires too much memory for decoding\)/,
    ],
    [
      'a thousand frames',
      { ...zeros(90 * MIB, { frames: 1000 }), content: described(80 * MIB) },
      /it cannot be decoded \(more content than described\)/,
    ],
    [
      'a gzip member',
      {
        compression: 'gzip',
        stored: zlib.gzipSync(Buffer.alloc(90 * MIB)),
        content: described(MIB),
        objects: 1,
      },
      /it cannot be decoded \(more content than described\)/,
    ],
    ['a hit', bomb(`${start}"${'x'.repeat(90 * MIB)}`), /hit 0 is larger than 16777216 bytes/],
    [
      'nested arrays',
      bomb(start + '['.repeat(90 * MIB)),
      /hit 0 is nested deeper than 1000 levels/,
    ],
    [
      'members of a hit',
      bomb(`${start}{${'"":0,'.repeat(3 * MIB)}`),
      /hit 0 has more than 1000000 members/,
    ],
    [
      'white space between hits',
      bomb(`${start}1},${' '.repeat(90 * MIB)}`),
      /it ends after 1 hits/,
    ],
    [
      'members beside the hits',
      bomb(`{"kibanaVersion":"${'7'.repeat(90 * MIB)}`),
      /its members besides hits are larger than 1048576 bytes/,
    ],
  ]

  it('does not make verify use much memory, for any compressed content', async () => {
    await using archive = await makeArchive()
    const names = bombs.map((_, place) => `20261101T03150${place}Z-aaaaaa`)
    for (const [place, [, file]] of bombs.entries()) {
      await plantSnapshot(archive.folder, file, { ...planted, snapshot: names[place] as string })
    }
    const { runs, peakBytes } = await archive.run(['verify --json'])
    expect(runs[0]?.exitCode).toBe(5)
    const { report } = JSON.parse(runs[0]?.stdout ?? '') as { report: Record<string, string>[] }
    for (const [place, [what, , problem]] of bombs.entries()) {
      const problems = report.filter(({ snapshot }) => snapshot === names[place])
      expect(`${what}: ${problems.map((one) => one.problem)}`).toMatch(problem)
    }
    expect(peakBytes).toBeLessThan(MOST_BYTES)
  })
})

/** A process that does nothing but start takes 105 MiB; a container for dashkeep has 256 MiB. */
const MOST_BYTES = 180 * MIB

/** What a manifest may say of any content. */
function described(bytes: number): PlantedFile['content'] {
  return { bytes, sha256: 'e'.repeat(64) }
}

/**
 * A zstd file that expands to so many bytes, all of them `{`, in blocks of 128 KiB that take four
 * bytes each (RFC 8878, section 3.1.1).
 */
function zeros(
  bytes: number,
  { frames = 1, windowLog = 17 }: { frames?: number; windowLog?: number } = {},
): PlantedFile {
  const blockBytes = 128 * 1024
  const blocks = Math.ceil(bytes / frames / blockBytes)
  const header = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, (windowLog - 10) << 3])
  const repeated = (isLast: boolean) => {
    const block = Buffer.alloc(4, '{')
    block.writeUIntLE((blockBytes << 3) | 2 | (isLast ? 1 : 0), 0, 3)
    return block
  }
  const body = Array.from({ length: blocks }, (_, place) => repeated(place === blocks - 1))
  const stored = Buffer.concat(Array.from({ length: frames }, () => [header, ...body]).flat())
  return { compression: 'zstd', stored, content: described(bytes), objects: 1 }
}

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

/**
 * Reads an archive whose second snapshot is this file with every command. Uses two processes, because the
 * code of each command stays in memory.
 */
async function readAll(
  file: PlantedFile,
): Promise<{ runs: Record<string, Read>; peakBytes: number }> {
  await using archive = await makeArchive()
  await plantSnapshot(archive.folder, bomb(document('')), earlier)
  await plantSnapshot(archive.folder, file)
  const commands = Object.keys(readers)
  const middle = Math.ceil(commands.length / 2)
  const first = await archive.run(commands.slice(0, middle))
  const second = await archive.run(commands.slice(middle))
  const runs = [...first.runs, ...second.runs]
  const named = commands.map((command, place) => {
    const { exitCode, stdout, stderr } = runs[place] as Finished
    return [command, { exitCode, said: stderr + stdout.slice(-1000) }]
  })
  const peakBytes = Math.max(first.peakBytes, second.peakBytes)
  return { runs: Object.fromEntries(named), peakBytes }
}

/** An empty archive, and a process that runs commands over it one after the other. */
async function makeArchive() {
  const folder = await mkdtemp(join(tmpdir(), 'dashkeep-limits-'))
  const config = join(folder, 'dashkeep.yaml')
  await writeFile(config, stringify({ limits: { maxObjects: 1000, maxExportBytes: 100 * MIB } }))
  const env = { DASHKEEP_STORE: pathToFileURL(folder).href, DASHKEEP_CONFIG: config }
  const script = fileURLToPath(new URL('run-in-sequence.ts', import.meta.url))
  return {
    folder,
    async run(lines: readonly string[]): Promise<{ runs: Finished[]; peakBytes: number }> {
      const commands = lines.map((line) => line.replace('FOLDER', folder).split(' '))
      await using child = spawnProcess(process.execPath, [script, JSON.stringify(commands)], {
        env,
      })
      const { stdout, stderr } = await child.finished
      if (!stdout) throw new Error(stderr)
      return JSON.parse(stdout)
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}
