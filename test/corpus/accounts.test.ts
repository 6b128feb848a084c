import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { AccountSeed } from '../../src/sandbox/options.ts'
import { type ArchivePlace, sentContent, storedContent } from '../e2e/archive-place.ts'
import { accountsOf, jsonLines } from '../e2e/run-dashkeep.ts'
import { startTrial, type Trial, types } from '../e2e/trial.ts'
import { corpus, places, reportLeftOut, stubCredentials } from './corpus.ts'

reportLeftOut('25 accounts of real saved objects')

const names = corpus && readdirSync(corpus).filter((name) => /^account-\d\d$/.test(name))
const accounts = [...names].map((name, place) => ({
  name,
  accountId: 1001 + place,
  token: `token-of-${name}`,
}))
const seeds = accounts.map(({ name, accountId, token }): AccountSeed => {
  const objects = { folder: join(corpus, name) }
  return { accountId, accountName: name, apiTokens: [token], objects }
})

/** All accounts in one configuration file, their tokens in variables. */
async function configure(trial: Trial, place: ArchivePlace) {
  const config = await trial.write('dashkeep.yaml', {
    accounts: accounts.map(({ name, accountId }) => ({
      ...{ name, accountId },
      token: { env: `TOKEN_${accountId}` },
    })),
  })
  return {
    ...place.env,
    ...Object.fromEntries(accounts.map(({ accountId, token }) => [`TOKEN_${accountId}`, token])),
    DASHKEEP_CONFIG: config,
    DASHKEEP_API_TOKEN: undefined,
  }
}

afterEach(() => {
  vi.unstubAllEnvs()
})

describe.skipIf(corpus === '')('25 accounts of real saved objects, in one run', () => {
  it.each(places)(
    'are in %s as the service sends them',
    async (_name, makePlace) => {
      await using place = await makePlace()
      stubCredentials(place)
      await using trial = await startTrial({ accounts: seeds })
      const env = await configure(trial, place)
      const json = async (...args: string[]) => {
        const { exitCode, stdout, stderr } = await trial.run([...args, '--json'], env)
        expect(exitCode, stderr).toBe(0)
        return jsonLines(stdout)
      }

      const [backup] = await json('backup')
      const taken = accountsOf(JSON.stringify(backup))
      expect(taken).toMatchObject(accounts.map(({ name }) => ({ name, result: 'first' })))
      expect(taken).toHaveLength(25)

      const stored = await place.keys()
      expect(stored).toHaveLength(25 * 4)
      for (const { name, accountId, token } of accounts) {
        for (const type of types) {
          const key = stored.find((one) => one.startsWith(`${accountId}/`) && one.includes(type))
          const sent = await sentContent(trial.sandbox, { token, type })
          expect(await storedContent(place, String(key)), `${name} ${type}`).toEqual(sent)
        }
      }

      const listed = await json('list')
      expect(listed.map(({ snapshot }) => snapshot)).toEqual(taken.map(({ snapshot }) => snapshot))
      for (const { accountId, exports } of taken) {
        const [shown] = await json('show', '--account', String(accountId))
        expect(shown?.exports).toEqual(exports)
      }
      const bytes = listed.reduce((sum, one) => sum + (one.bytes as number), 0)
      expect(await json('verify')).toMatchObject([{ snapshots: 25, bytes, defects: 0 }])
    },
    300_000,
  )

  it.each(places)(
    'cost one manifest each in %s when only order and score change',
    async (_name, makePlace) => {
      await using place = await makePlace()
      stubCredentials(place)
      await using still = await startTrial({ accounts: seeds })
      await using shuffled = await startTrial({ accounts: seeds, shuffle: 4 })
      const env = await configure(still, place)
      expect((await still.run(['backup'], env)).exitCode).toBe(0)
      const before = await place.keys()

      const second = await shuffled.run(['backup', '--accept-service', '--json'], env)
      expect(second.exitCode).toBe(0)
      const taken = accountsOf(second.stdout)
      expect(taken).toMatchObject(accounts.map(({ name }) => ({ name, result: 'unchanged' })))
      const added = (await place.keys()).filter((key) => !before.includes(key))
      expect(added).toEqual(
        taken.map(({ accountId, snapshot }) => `${accountId}/${snapshot}/manifest.json`),
      )
      expect(added).toHaveLength(25)
      const verified = await shuffled.run(['verify', '--json'], env)
      expect(jsonLines(verified.stdout)).toMatchObject([{ snapshots: 50, defects: 0 }])

      const differing = new Set<string>()
      for (const { name, token } of accounts) {
        for (const type of types) {
          const sent = await sentContent(still.sandbox, { token, type })
          const again = await sentContent(shuffled.sandbox, { token, type })
          if (sent.sha256 !== again.sha256) differing.add(name)
        }
      }
      expect(differing.size).toBe(25)
    },
    300_000,
  )
})
