import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { encodeManifest, formatVersion } from '../../src/archive/manifest.ts'
import type { DataFile, Fingerprint } from '../../src/datafile/data-file.ts'

/** A stored file as somebody with the right to write into the archive may plant it. */
export interface PlantedFile {
  readonly compression: DataFile['compression']
  readonly encryption?: DataFile['encryption']
  readonly stored: Uint8Array
  /** What the manifest says of the content. */
  readonly content: Fingerprint
  readonly objects: number
  /** Address of the service that it claims to be from. */
  readonly service?: string
}

/** The names of what is planted. */
export const planted = {
  accountId: 10,
  snapshot: '20261101T031500Z-aaaaaa',
  type: 'search',
} as const

/** Writes a snapshot with one file, whose manifest any reader takes. */
export async function plantSnapshot(
  archive: string,
  file: PlantedFile,
  { accountId, snapshot } = planted as { accountId: number; snapshot: string },
): Promise<void> {
  const ending = { zstd: '.zst', gzip: '.gz', none: '' }[file.compression]
  const name = `${planted.type}.json${ending}${file.encryption ? '.age' : ''}`
  const { compression, encryption, stored, content, objects } = file
  const { service = 'http://service.example' } = file
  const takenAt = '2026-11-01T03:15:00.000Z'
  const folder = join(archive, String(accountId), snapshot)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, name), stored)
  const manifest = encodeManifest({
    formatVersion,
    snapshot,
    takenAt,
    account: { id: accountId, name: 'Planted' },
    service,
    exports: [
      {
        type: planted.type,
        kibanaVersion: '7.10.2',
        exportedAt: takenAt,
        objects,
        contentDigest: content.sha256,
        remarks: {},
        file: { name, compression, encryption, stored: fingerprintOf(stored), content },
      },
    ],
    dashkeepVersion: '0.1.0',
  })
  await writeFile(join(folder, 'manifest.json'), manifest)
}

export function fingerprintOf(bytes: Uint8Array): Fingerprint {
  return { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
}
