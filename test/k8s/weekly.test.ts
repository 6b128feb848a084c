import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startTrial } from '../e2e/trial.ts'
import { containersOf, k8sFolder, type Resource, render } from './render.ts'

const resources = await render(join(k8sFolder, 'overlays/weekly'))

function argsOf(name: string): readonly string[] {
  const isNamed = ({ kind, metadata }: Resource) => kind === 'CronJob' && metadata.name === name
  return containersOf(resources.find(isNamed) as Resource)[0]?.args ?? []
}

describe('the weekly Jobs', () => {
  it.each(['dashkeep-verify', 'dashkeep-drill'])(
    'prove every account on record: %s',
    async (name) => {
      await using trial = await startTrial()
      const monday = new Date('2026-11-16T03:15:00Z')
      const sunday = new Date('2026-11-22T05:15:00Z')
      await trial.runAt(monday, ['backup'])
      const judge = ['status', '--max-proof-age', '8d']
      expect((await trial.runAt(sunday, judge)).exitCode).toBe(4)
      expect((await trial.runAt(sunday, argsOf(name))).exitCode).toBe(0)
      const nextSunday = new Date('2026-11-29T05:15:00Z')
      expect((await trial.runAt(nextSunday, judge)).exitCode).toBe(0)
    },
  )
})
