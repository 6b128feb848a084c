import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { readTree, startTrial } from '../e2e/trial.ts'
import { backUpEachDate, corpus, places, reportLeftOut, stubCredentials } from './corpus.ts'

reportLeftOut('copies of five years of real changes')

afterEach(() => {
  vi.unstubAllEnvs()
})

describe.skipIf(corpus === '')('copies of five years of real changes', () => {
  it.each(places)(
    'are identical after the way to %s and back',
    async (_name, makePlace) => {
      await using place = await makePlace()
      stubCredentials(place)
      await using trial = await startTrial()
      await backUpEachDate(trial, {
        env: { DASHKEEP_STORE: pathToFileURL(trial.archive).href },
      })
      const there = await trial.run(['copy', '--to', place.env.DASHKEEP_STORE ?? '', '--json'], {
        ...place.env,
        DASHKEEP_STORE: trial.env.DASHKEEP_STORE,
      })
      expect(JSON.parse(there.stdout)).toMatchObject({ snapshots: 175, files: 700, defects: [] })
      const back = await mkdtemp(join(trial.folder, 'back-'))
      const again = await trial.run(['copy', '--to', back, '--json'], place.env)
      expect(JSON.parse(again.stdout)).toMatchObject({ snapshots: 175, files: 700, defects: [] })
      expect(await readTree(back)).toEqual(await trial.files())
    },
    600_000,
  )
})
