import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { exitCodes } from '../../src/run/exit-codes.ts'
import { writeOverlay } from './overlay.ts'
import type { CronJobSpec } from './relations.ts'
import { k8sFolder, type Resource, render } from './render.ts'

/**
 * What follows from each exit code. FailJob: another try gives the same result. Retry: another try
 * may succeed, since the service or the store was not available, something stopped the process, or
 * a new backup does not hold the damage of the last one.
 */
const expected = {
  backup: { 1: 'retry', 2: 'FailJob', 3: 'FailJob', 4: 'retry', 5: 'retry', 130: 'retry' },
  prune: { 1: 'retry', 2: 'FailJob', 3: 'FailJob', 4: 'retry', 5: 'retry', 130: 'retry' },
  copy: { 1: 'retry', 2: 'FailJob', 3: 'FailJob', 4: 'retry', 5: 'FailJob', 130: 'retry' },
  judge: { 1: 'retry', 2: 'FailJob', 3: 'FailJob', 4: 'FailJob', 5: 'retry', 130: 'retry' },
  verify: { 1: 'retry', 2: 'FailJob', 3: 'FailJob', 4: 'retry', 5: 'FailJob', 130: 'retry' },
  drill: { 1: 'retry', 2: 'FailJob', 3: 'FailJob', 4: 'retry', 5: 'FailJob', 130: 'retry' },
} as const

/** The action for a container that ends with an exit code: that of the first rule that fits. */
function actionFor(resource: Resource, exitCode: number): string {
  const { podFailurePolicy, backoffLimit, backoffLimitPerIndex } = (resource.spec as CronJobSpec)
    .jobTemplate.spec
  const rules = podFailurePolicy?.rules ?? []
  const rule = rules.find(({ onExitCodes }) => onExitCodes?.values.includes(exitCode))
  if (rule !== undefined) return rule.action
  return (backoffLimitPerIndex ?? backoffLimit ?? 6) > 0 ? 'retry' : 'fails'
}

describe('the exit code of a Job decides whether it is tried again', async () => {
  await using overlay = await writeOverlay({ components: ['judge', 'weekly', 'prune', 'copy'] })
  await using sharded = await writeOverlay({ components: ['many-accounts'] })
  const cronJobs = await render(overlay.folder)
  const shards = (await render(sharded.folder)).find(({ kind }) => kind === 'CronJob') as Resource

  it('for all exit codes that are documented', () => {
    const codes = Object.values(exitCodes).filter((code) => code !== 0)
    for (const table of Object.values(expected))
      expect(Object.keys(table).map(Number)).toEqual(codes)
  })

  it.each(Object.entries(expected))('of %s', (component, table) => {
    const cronJob = cronJobs.find(
      ({ kind, metadata }) =>
        kind === 'CronJob' && metadata.labels?.['app.kubernetes.io/component'] === component,
    ) as Resource
    const found = Object.keys(table).map((code) => [code, actionFor(cronJob, Number(code))])
    expect(Object.fromEntries(found)).toEqual(table)
    expect(actionFor(cronJob, 137)).toBe('retry')
  })

  it('of a shard, which fails alone', () => {
    expect([1, 2, 3].map((code) => actionFor(shards, code))).toEqual([
      'retry',
      'FailIndex',
      'FailIndex',
    ])
  })

  it('and an evicted pod never counts', async () => {
    for (const { kind, spec, metadata } of [...cronJobs, shards]) {
      if (kind !== 'CronJob' || metadata.name === 'dashkeep-toolbox') continue
      const [first] = (spec as CronJobSpec).jobTemplate.spec.podFailurePolicy?.rules ?? []
      expect(first).toEqual({
        action: 'Ignore',
        onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }],
      })
    }
  })
})

describe('what is left of a Job', () => {
  const day = 24 * 60 * 60
  it.each([
    ['base/cron-job.yaml', 7],
    ['components/judge/judge.yaml', 7],
    ['components/prune/prune.yaml', 7],
    ['components/copy/copy.yaml', 7],
    ['components/weekly/verify.yaml', 14],
    ['components/weekly/drill.yaml', 14],
  ])(
    'of %s stays for %d days, and a late start is allowed for twelve hours',
    async (file, days) => {
      const text = await readFile(join(k8sFolder, file), 'utf8')
      expect(text).toContain(`ttlSecondsAfterFinished: ${days * day}\n`)
      expect(text).toContain(`startingDeadlineSeconds: ${day / 2}\n`)
    },
  )
})
