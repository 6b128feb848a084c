import { describe, expect, it } from 'vitest'
import { writeProof } from '../../src/proofs/write.ts'
import { failed, newProof } from '../proofs/new-proof.ts'
import { openPages, smallShop } from './open-pages.ts'

const shop = '/accounts/10'
const day = 24 * 3600_000

/** An archive of one day, whose pages are shown at noon of that day. */
async function openShop(options: Parameters<typeof openPages>[1] = {}) {
  const pages = await openPages([smallShop()], options)
  const record = (hour: number, members: Parameters<typeof newProof>[0] = {}) => {
    const startedAt = new Date(Date.UTC(2026, 10, 1, hour))
    return writeProof(pages.store, newProof({ accountId: 10, ...members, startedAt }))
  }
  return { ...pages, record }
}

function factOf(text: string, name: string): string | undefined {
  return new RegExp(`<dt>${name}</dt><dd>(.*?)</dd>`, 's').exec(text)?.[1]
}

describe('the accounts page', () => {
  it('shows when each account was last proven', async () => {
    const { read, record } = await openShop()
    await record(5)
    await record(6, { kind: 'drill' })
    const { text } = await read('/')
    expect(text).toContain('Last proven')
    expect(text).toMatch(/<li>verify .*2026-11-01 05:00:00.*7 hours ago/)
    expect(text).toMatch(/<li>drill .*2026-11-01 06:00:00/)
    expect(text).toContain('The account has a good backup.')
  })

  it('says nothing of proofs where none is recorded or asked for', async () => {
    const { read } = await openShop()
    expect((await read('/')).text).not.toContain('proven')
  })

  it('shows an account that is not proven, and why', async () => {
    const { read } = await openShop({ maxProofAgeMs: 8 * day })
    const { text } = await read('/')
    expect(text).toMatch(/state unproven[\s\S]*no good verify or drill is recorded/)
    expect(text).toContain('1 of 1 account needs attention.')
  })

  it('shows a failed check, which a good one of another kind does not outweigh', async () => {
    const { read, record } = await openShop({ maxProofAgeMs: 8 * day })
    await record(5, { ...failed, problems: ['<b>it</b> is damaged'] })
    await record(6, { kind: 'drill' })
    const { text } = await read('/')
    expect(text).toMatch(/<li>verify <span class="state damaged">/)
    expect(text).toContain('2026-11-01 05:00:00 failed: &lt;b&gt;it&lt;/b&gt; is damaged')
  })

  it('reads a record once', async () => {
    const { store, read, record } = await openShop()
    const key = await record(5)
    for (const path of ['/', shop, '/refresh', shop, '/']) await read(path)
    const reads = store.calls.filter((call) => call.action === 'get' && call.key === key)
    // Once by the writer, which looks whether the key is free.
    expect(reads).toHaveLength(2)
  })
})

describe('the account page', () => {
  it('shows the last verify and the last drill, and what they proved', async () => {
    const { read, record } = await openShop()
    await record(5, { sealed: 2 })
    await record(6, { kind: 'drill', snapshots: ['20261101T000000Z-4f2a1c'] })
    const { text } = await read(shop)
    expect(factOf(text, 'Last verify')).toMatch(
      /05:00:00.*2 snapshots, 175 of 175 objects equal, 2 encrypted files only as stored bytes/,
    )
    expect(factOf(text, 'Last drill')).toMatch(/06:00:00.*1 snapshot, 175 of 175 objects equal/)
  })

  it('shows a failed check with its problems, and the good one before', async () => {
    const { read, record } = await openShop()
    await record(5)
    await record(6, failed)
    const fact = factOf((await read(shop)).text, 'Last verify')
    expect(fact).toMatch(/failed[\s\S]*06:00:00[\s\S]*it is damaged[\s\S]*good before: .*05:00:00/)
  })

  it('shows no proof where none is recorded, and names records that do not count', async () => {
    const { store, read } = await openShop()
    const future = newProof({ accountId: 10, startedAt: new Date('2027-01-01T00:00:00Z') })
    const key = await writeProof(store, future)
    const broken = 'proofs/10/20261101T050000Z-4f2a1c00-verify.json'
    store.objects.set(broken, Buffer.from('{}'))
    const { text } = await read(shop)
    expect(factOf(text, 'Last verify')).toBeUndefined()
    const ignored = factOf(text, 'Records that do not count')
    expect(ignored).toContain(`${key} is from the future`)
    expect(ignored).toContain(`Cannot read ${broken}: formatVersion is invalid in format 1`)
  })
})
