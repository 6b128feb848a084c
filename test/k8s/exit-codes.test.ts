import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Environment } from '../../src/config/config.ts'
import type { Fault } from '../../src/sandbox/http/faults.ts'
import { startTrial } from '../e2e/trial.ts'
import { k8sFolder, render } from './render.ts'

interface JobTemplate {
  readonly spec: {
    readonly podFailurePolicy: {
      readonly rules: readonly { action: string; onExitCodes?: { values: readonly number[] } }[]
    }
  }
}

/** Exit codes after which the Job for backups does not start another pod. */
async function finalCodes(overlay: string): Promise<readonly number[]> {
  const resources = await render(join(k8sFolder, overlay))
  const { spec } = resources.find(
    ({ kind, metadata }) => kind === 'CronJob' && metadata.name === 'dashkeep',
  ) as unknown as { spec: { jobTemplate: JobTemplate } }
  return spec.jobTemplate.spec.podFailurePolicy.rules.flatMap(
    ({ onExitCodes }) => onExitCodes?.values ?? [],
  )
}

const [once, again] = ['starts one pod', 'tries again']

describe.each(['base', 'overlays/many-accounts'])('the Job of %s for one account', (overlay) => {
  it.each<[what: string, tries: string, fault: Fault, changes?: Environment]>([
    ['a token that the service refuses', once, { operation: 'whoami', refused: true }],
    ['a token that may not export', once, { operation: 'export', status: 403 }],
    ['a token of another account', once, {}, { DASHKEEP_ACCOUNT_ID: '4711' }],
    ['no token', once, {}, { DASHKEEP_API_TOKEN: undefined }],
    ['a service that is not available', again, { operation: 'whoami', status: 503 }],
    ['a connection that breaks off', again, { operation: 'export', cut: true }],
  ])('with %s %s', async (_what, tries, fault, changes = {}) => {
    await using trial = await startTrial()
    if (fault.operation !== undefined) trial.sandbox.faults.add(fault)
    const { exitCode } = await trial.run(['backup'], changes)
    expect(exitCode).toBeGreaterThan(0)
    expect((await finalCodes(overlay)).includes(exitCode ?? 0) ? once : again).toBe(tries)
  })
})
