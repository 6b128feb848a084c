import type { RetentionPolicy } from '../../src/archive/retention.ts'
import { createMemoryStore, type MemoryStore } from '../archive/memory-store.ts'
import { type SimulatedAccount, simulateAccount } from './simulated-account.ts'
import { halfPast, type ZoneName, zoneNames } from './simulated-zone.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** A year of backups with failures, and what the configuration says about them. */
export interface SimulatedYear {
  readonly store: MemoryStore
  /** How long files are locked; undefined without locks. */
  readonly lockMs: number | undefined
  readonly timeZone: ZoneName
  /** Runs are due at half past these hours. */
  readonly hours: readonly number[]
  /** When runs were due, up to `now`. */
  readonly due: readonly Date[]
  readonly policy: RetentionPolicy
  readonly since: Date
  readonly now: Date
  readonly accounts: readonly SimulatedAccount[]
}

/** Ids of the accounts; the second one enters the configuration late, the third one leaves it. */
export const [early, late, gone] = [101, 102, 103] as const

/** Simulates a year whose events all follow from a seed. */
export async function simulateYear(seed: number): Promise<SimulatedYear> {
  const random = createRandom(seed)
  const pick = <Value>(values: readonly Value[]) =>
    values[Math.floor(random() * values.length)] as Value
  const lockMs = pick([undefined, 5 * dayMs, 40 * dayMs])
  const timeZone = pick(zoneNames)
  const hours = pick([[1], [2], [14]])
  const policies = [
    { daily: 10, weekly: 8 },
    { withinMs: 60 * dayMs },
    { last: 30, monthly: 12 },
    {},
  ]
  const policy = pick<RetentionPolicy>(policies)
  const all = halfPast(timeZone, hours)
  const last = all[all.length - 1 - Math.floor(random() * 40)] as Date
  const now = new Date(last.getTime() + Math.floor(random() * 11 * hourMs))
  const due = all.filter((time) => time <= now)
  const since = new Date(now.getTime() - Math.floor((20 + random() * 340) * dayMs))
  const accounts: SimulatedAccount[] = []
  for (const accountId of [early, late, gone]) {
    const account = simulateAccount(accountId, { random, policy, lockMs })
    const begin = accountId === late ? 60 + Math.floor(random() * 120) : Math.floor(random() * 3)
    const end = accountId === gone ? 200 : due.length
    const times = due.slice(begin, end)
    for (const [place, time] of times.entries()) {
      if (place === times.length - 3 && random() < 0.5) account.lose()
      await live(account, time, { now, random })
    }
    if (random() < 0.5) await account.runAhead(new Date(now.getTime() + 40 * dayMs))
    accounts.push(account)
  }
  const store = mergeStores(accounts)
  return { store, lockMs, timeZone, hours, due, policy, since, now, accounts }
}

/** One archive with the files of all accounts. */
function mergeStores(accounts: readonly SimulatedAccount[]): MemoryStore {
  const merged = createMemoryStore()
  for (const { store } of accounts) {
    for (const [key, bytes] of store.objects) merged.objects.set(key, bytes)
    for (const [key, until] of store.locks) merged.locks.set(key, until)
  }
  return merged
}

/** What happens from one due time to the next. */
async function live(
  account: SimulatedAccount,
  due: Date,
  { now, random }: { now: Date; random: () => number },
): Promise<void> {
  const after = (ms: number) => new Date(due.getTime() + ms)
  const start = after(Math.floor(random() * 20 * minuteMs))
  const at = random() < 0.05 ? after(Math.floor((2 + random() * 4) * hourMs)) : start
  if (at > now) return
  const event = random()
  if (event < 0.04) account.lose()
  else if (account.isLost() && event < 0.4) account.findAgain()
  const outcome = random()
  if (outcome < 0.06) return
  if (outcome < 0.1) await account.fail(at)
  else if (outcome < 0.13) account.interrupt(at)
  else {
    const acceptFall = account.isLost() && outcome < 0.3
    await account.run(at, { acceptFall })
    const extra = after(Math.floor((7 + random() * 3.5) * hourMs))
    if (outcome > 0.92 && extra < now) await account.run(extra)
  }
  const evening = after(10.9 * hourMs)
  if (evening > now) return
  if (random() < 0.03) await account.damage(evening)
  if (random() < 0.01) await account.pin(evening)
  if (random() < 0.2) await account.prune(evening)
  if (random() < 0.12) await account.check(evening, random() < 0.7 ? 'verify' : 'drill')
}

/** A generator of numbers from 0 to below 1 (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
