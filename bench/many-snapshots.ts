import { createHash } from 'node:crypto'
import pMap from 'p-map'
import { encodeManifest, type Manifest } from '../src/archive/manifest.ts'
import { timePrefix } from '../src/archive/snapshot-name.ts'
import type { Spot } from './place.ts'
import { firstAccountId } from './service.ts'

const hourMs = 3600_000
const dayMs = 24 * hourMs
const first = Date.UTC(2025, 0, 1)
/** Number of snapshots after which the object changes. */
const unchangedFor = 100

/** Fills an archive with hourly snapshots of one account with one object. */
export async function fillArchive(spot: Spot, snapshots: number): Promise<void> {
  await putAll(
    spot,
    Array.from({ length: snapshots }, (_, number) => {
      const takenAt = new Date(first + number * hourMs)
      return () =>
        makeSnapshot(firstAccountId, takenAt, { version: Math.floor(number / unchangedFor) })
    }),
  )
}

/**
 * Fills an archive with daily snapshots of many accounts, up to `newest`. The object of an account
 * changes every 100 days; the other snapshots are a manifest alone.
 */
export async function fillAccounts(
  spot: Spot,
  { accounts, snapshots, newest }: { accounts: number; snapshots: number; newest: Date },
): Promise<void> {
  const takenAt = (number: number) => new Date(newest.getTime() - (snapshots - 1 - number) * dayMs)
  const makers = Array.from({ length: accounts * snapshots }, (_, place) => () => {
    const [accountId, number] = [firstAccountId + Math.floor(place / snapshots), place % snapshots]
    const version = Math.floor(number / unchangedFor)
    const holder = takenAt(version * unchangedFor)
    return makeSnapshot(accountId, takenAt(number), { version, holder })
  })
  await putAll(spot, makers)
}

/** Adds a snapshot of an account with many objects. Returns its name. */
export async function addObjects(
  spot: Spot,
  { accountId, objects, takenAt }: { accountId: number; objects: number; takenAt: Date },
): Promise<string> {
  await putAll(spot, [() => makeSnapshot(accountId, takenAt, { version: 0, objects })])
  return nameOf(takenAt)
}

type Made = ReturnType<typeof makeSnapshot>

async function putAll(spot: Spot, makers: readonly (() => Made)[]): Promise<void> {
  const put = async (make: () => Made) => {
    const { manifest, body } = make()
    const folder = `${manifest.account.id}/${manifest.snapshot}`
    if (manifest.sameAs === undefined) await spot.put(`${folder}/search.json`, body)
    await spot.put(`${folder}/manifest.json`, encodeManifest(manifest))
  }
  await pMap(makers, put, { concurrency: 32 })
}

/** A snapshot with its only file, or the same as that of `holder`. */
function makeSnapshot(
  accountId: number,
  takenAt: Date,
  options: { version: number; holder?: Date; objects?: number },
): { manifest: Manifest; body: Buffer } {
  const { version, holder = takenAt, objects = 1 } = options
  const hits = Array.from({ length: objects }, (_, number) => {
    const id = number === 0 ? 'search:orders' : `search:orders-${number}`
    const search = {
      title: `Orders ${version} ${number}`,
      description: 'all orders',
      columns: ['a'],
    }
    return { _type: 'doc', _id: id, _source: { type: 'search', search } }
  })
  const body = Buffer.from(JSON.stringify({ kibanaVersion: '7.10.2', hits }))
  const sha256 = createHash('sha256').update(body).digest('hex')
  const fingerprint = { bytes: body.length, sha256 }
  const manifest: Manifest = {
    formatVersion: 1,
    snapshot: nameOf(takenAt),
    takenAt: takenAt.toISOString(),
    account: { id: accountId, name: `Account ${accountId}` },
    service: 'https://service.example',
    ...(holder < takenAt && { sameAs: nameOf(holder) }),
    exports: [
      {
        type: 'search',
        kibanaVersion: '7.10.2',
        exportedAt: takenAt.toISOString(),
        objects,
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

function nameOf(takenAt: Date): string {
  return `${timePrefix(takenAt)}-000000`
}
