import { fileKey, manifestName } from '../../src/archive/archive.ts'
import { noteDamage } from '../../src/archive/damage-note.ts'
import { pinSnapshot } from '../../src/archive/pins.ts'
import { applyPrune, planPrune } from '../../src/archive/prune.ts'
import type { RetentionPolicy } from '../../src/archive/retention.ts'
import { timePrefix } from '../../src/archive/snapshot-name.ts'
import { takeSnapshot } from '../../src/archive/take.ts'
import type { Proof } from '../../src/proofs/proof.ts'
import { writeProof } from '../../src/proofs/write.ts'
import { createMemoryStore } from '../archive/memory-store.ts'
import { exportBody, scriptSource } from '../archive/scripted-source.ts'
import { newProof } from '../proofs/new-proof.ts'

const hourMs = 3600_000

/** A snapshot as the simulation remembers it, whatever became of it in the archive. */
export interface Remembered {
  readonly name: string
  /** To the second. */
  readonly takenAt: Date
  readonly isSuspect: boolean
  readonly objects: number
  /** Bytes of its data files, also of shared ones. */
  readonly bytes: number
  /** Everything that was in it, as text. */
  readonly content: string
  /** The snapshot with its files. */
  readonly holder: string
  /** Of a suspect one: the last good snapshot before it. */
  readonly fellFrom: { readonly takenAt: Date; readonly objects: number } | undefined
  isDamaged: boolean
  isUnreadable: boolean
  isRemoved: boolean
  isPinned: boolean
}

/** A recorded check. */
export interface RememberedCheck extends Pick<Proof, 'kind' | 'startedAt'> {
  readonly isGood: boolean
  readonly isWhole: boolean
}

/** Objects of one type that never change, beside those that do. */
const constant = { d1: 'One', d2: 'Two', d3: 'Three' }
const normalCount = 20

/** An account of the simulation: what happened to it, and the ways in which more can happen. */
export type SimulatedAccount = ReturnType<typeof simulateAccount>

/** Creates an account without snapshots. `random` returns numbers from 0 to below 1. */
export function simulateAccount(
  accountId: number,
  options: { random: () => number; policy: RetentionPolicy; lockMs: number | undefined },
) {
  const { random, policy } = options
  const store = createMemoryStore()
  store.lockMs = options.lockMs
  const snapshots: Remembered[] = []
  const checks: RememberedCheck[] = []
  const interrupted: string[] = []
  const fromFuture: Pick<Remembered, 'name' | 'holder' | 'takenAt'>[] = []
  const source = scriptSource({})
  source.account = { accountId, accountName: `Account ${accountId}` }
  let objects = numberedTitles(normalCount)
  let isLost = false
  let isAccepted = false

  const left = () => snapshots.filter(({ isRemoved }) => !isRemoved)
  const lastGood = () => snapshots.findLast(({ isSuspect }) => !isSuspect)

  async function take(takenAt: Date, { acceptFall = false } = {}) {
    source.answers = {
      search: exportBody('search', objects),
      dashboard: exportBody('dashboard', constant),
    }
    const types = ['search', 'dashboard']
    const names = { configuredAs: `team-${accountId}` }
    const options = { takenAt, types, acceptFall, compression: 'none', ...names } as const
    return (await takeSnapshot(source, store, options)).manifest
  }

  /** A run that ends well. While objects are lost, its snapshot is suspect. */
  async function run(at: Date, { acceptFall = false } = {}): Promise<void> {
    if (isAccepted) objects = numberedTitles(normalCount)
    isAccepted = false
    if (random() < 0.4) edit()
    const before = lastGood()
    const manifest = await take(at, { acceptFall })
    const isSuspect = isLost && !acceptFall && before !== undefined
    if ((manifest.suspect !== undefined) !== isSuspect) {
      throw new Error(`${manifest.snapshot} is ${isSuspect ? 'good' : 'suspect'}, against the plan`)
    }
    if (isLost && !isSuspect) {
      isLost = false
      isAccepted = true
    }
    const holder = manifest.sameAs ?? manifest.snapshot
    snapshots.push({
      name: manifest.snapshot,
      takenAt: new Date(Math.floor(at.getTime() / 1000) * 1000),
      isSuspect,
      objects: Object.keys(objects).length + 3,
      bytes: sum(dataFiles(holder).map((key) => store.objects.get(key)?.length ?? 0)),
      content: JSON.stringify(objects),
      holder,
      fellFrom:
        isSuspect && before ? { takenAt: before.takenAt, objects: before.objects - 3 } : undefined,
      isDamaged: false,
      isUnreadable: false,
      isRemoved: false,
      isPinned: false,
    })
  }

  function edit(): void {
    const [id = ''] = Object.keys(objects)
    objects = { ...objects, [id]: `Title ${Math.floor(random() * 1e6)}` }
  }

  function dataFiles(snapshot: string): string[] {
    const prefix = fileKey(accountId, snapshot, '')
    const keys = [...store.objects.keys()]
    const isData = (key: string) => /\/(search|dashboard)\.json$/.test(key)
    return keys.filter((key) => key.startsWith(prefix) && isData(key)).sort()
  }

  return {
    /** Its part of the archive. */
    store,
    accountId,
    snapshots,
    checks,
    fromFuture,
    left,
    run,
    isLost: () => isLost,
    interrupted: () => interrupted.filter((name) => dataFiles(name).length > 0),

    /** Most objects disappear from the service. */
    lose(): void {
      if (isLost || isAccepted || lastGood() === undefined) return
      isLost = true
      objects = numberedTitles(3 + Math.floor(random() * 3))
    },

    /** They return. */
    findAgain(): void {
      if (isLost) objects = numberedTitles(normalCount)
      isLost = false
    },

    /** A run that the service answers with an error. */
    async fail(at: Date): Promise<void> {
      const keys = store.objects.size
      source.answers = { search: exportBody('search', objects), dashboard: new Error('503') }
      const options = { takenAt: at, types: ['search', 'dashboard'] }
      const failed = await takeSnapshot(source, store, options).then(
        () => false,
        () => true,
      )
      if (!failed || store.objects.size !== keys) throw new Error('the run did not fail cleanly')
    },

    /** A run that is killed after its first file. */
    interrupt(at: Date): void {
      const name = `${timePrefix(at)}-${Math.floor(random() * 0xffffff)
        .toString(16)
        .padStart(6, '0')}`
      interrupted.push(name)
      store.objects.set(fileKey(accountId, name, 'search.json'), Buffer.from('half'))
    },

    /** A run of a machine whose clock is far ahead. Only as the last run of an account. */
    async runAhead(at: Date): Promise<void> {
      const { snapshot: name, sameAs: holder = name } = await take(at)
      fromFuture.push({ name, holder, takenAt: at })
    },

    /** Damages an old snapshot: its files, or its manifest. Spares the newest ones. */
    async damage(at: Date): Promise<void> {
      const end = snapshots.findLastIndex(({ isSuspect, isRemoved }) => !isSuspect && !isRemoved)
      const old = snapshots.slice(0, Math.max(end - 2, 0)).filter(({ isRemoved }) => !isRemoved)
      const victim = old[Math.floor(random() * old.length)]
      if (victim === undefined) return
      const way = random()
      if (way < 0.2) {
        const key = fileKey(accountId, victim.name, manifestName)
        store.objects.set(key, Buffer.from('{"formatVersion": 1}'))
        victim.isUnreadable = true
        victim.isDamaged = true
        return
      }
      const [file] = dataFiles(victim.holder)
      if (file === undefined) return
      if (way < 0.5) store.objects.delete(file)
      else {
        const files = [{ name: 'search.json', problem: 'one bit is wrong' }]
        await noteDamage(store, { accountId, snapshot: victim.holder, files }, { foundAt: at })
      }
      for (const one of snapshots) if (one.holder === victim.holder) one.isDamaged = true
    },

    async pin(at: Date): Promise<void> {
      const all = left()
      const chosen = all[Math.floor(random() * all.length)]
      if (chosen === undefined) return
      chosen.isPinned = true
      const pin = { accountId, snapshot: chosen.name, pinnedAt: at, note: undefined }
      await pinSnapshot(store, pin)
    },

    /** Prunes by the policy and remembers what is gone. */
    async prune(now: Date): Promise<void> {
      for await (const plan of planPrune(store, policy, { now, accountId })) {
        await Array.fromAsync(applyPrune(store, plan, { now }))
      }
      for (const one of snapshots) {
        one.isRemoved = !store.objects.has(fileKey(accountId, one.name, manifestName))
      }
    },

    /** Records a check with a random result. */
    async check(at: Date, kind: RememberedCheck['kind']): Promise<void> {
      const isGood = random() < 0.8
      const isWhole = kind === 'drill' || random() < 0.7
      const verified = isWhole ? 'all' : 'some'
      const scope = kind === 'drill' ? 'newest' : verified
      const result = isGood ? 'good' : 'failed'
      const defects = isGood ? 0 : 1
      const times = { startedAt: at, endedAt: new Date(at.getTime() + hourMs) }
      await writeProof(store, newProof({ accountId, kind, scope, result, defects, ...times }))
      checks.push({ kind, startedAt: at, isGood, isWhole })
    },
  }
}

function numberedTitles(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, `Title ${at}`]))
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
