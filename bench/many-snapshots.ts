import { createHash } from 'node:crypto'
import pMap from 'p-map'
import { encodeManifest, type Manifest } from '../src/archive/manifest.ts'
import { timePrefix } from '../src/archive/snapshot-name.ts'
import type { Spot } from './place.ts'
import { firstAccountId } from './service.ts'

const hourMs = 3600_000
const first = Date.UTC(2025, 0, 1)
/** Number of snapshots after which the object changes. */
const unchangedFor = 100

/** Fills an archive with hourly snapshots of one account with one object. */
export async function fillArchive(spot: Spot, snapshots: number): Promise<void> {
  const numbers = Array.from({ length: snapshots }, (_, number) => number)
  const put = async (number: number) => {
    const { manifest, body } = makeSnapshot(number)
    const folder = `${firstAccountId}/${manifest.snapshot}`
    await spot.put(`${folder}/search.json`, body)
    await spot.put(`${folder}/manifest.json`, encodeManifest(manifest))
  }
  await pMap(numbers, put, { concurrency: 32 })
}

function makeSnapshot(number: number): { manifest: Manifest; body: Buffer } {
  const takenAt = new Date(first + number * hourMs)
  const search = { title: `Orders ${Math.floor(number / unchangedFor)}` }
  const hit = { _type: 'doc', _id: 'search:orders', _source: { type: 'search', search } }
  const body = Buffer.from(JSON.stringify({ kibanaVersion: '7.10.2', hits: [hit] }))
  const sha256 = createHash('sha256').update(body).digest('hex')
  const fingerprint = { bytes: body.length, sha256 }
  const manifest: Manifest = {
    formatVersion: 1,
    snapshot: `${timePrefix(takenAt)}-000000`,
    takenAt: takenAt.toISOString(),
    account: { id: firstAccountId, name: 'Many' },
    service: 'https://service.example',
    exports: [
      {
        type: 'search',
        kibanaVersion: '7.10.2',
        exportedAt: takenAt.toISOString(),
        objects: 1,
        contentDigest: sha256,
        remarks: {},
        file: {
          name: 'search.json',
          compression: 'none',
          stored: fingerprint,
          content: fingerprint,
        },
      },
    ],
    dashkeepVersion: '0.1.0',
  }
  return { manifest, body }
}
