import { rm } from 'node:fs/promises'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { describe, expect, it } from 'vitest'
import { startTrial, type Trial } from '../e2e/trial.ts'
import { containersOf, k8sFolder, podOf, type Resource, render } from './render.ts'

const resources = await render(`${k8sFolder}/overlays/production`)

/** What the pods of a CronJob have: mounted Secrets, and variables from Secrets. */
function secretsOf(component: string): (string | undefined)[] {
  const cronJob = resources.find(
    ({ kind, metadata }) =>
      kind === 'CronJob' && metadata.labels?.['app.kubernetes.io/component'] === component,
  ) as Resource
  const volumes = podOf(cronJob)?.spec.volumes?.flatMap(
    ({ secret }) => (secret as { secretName?: string } | undefined)?.secretName ?? [],
  )
  const variables = containersOf(cronJob)
    .flatMap(({ env = [] }) => env as { valueFrom?: { secretKeyRef: { name: string } } }[])
    .flatMap(({ valueFrom }) => valueFrom?.secretKeyRef.name ?? [])
  return [...(volumes ?? []), ...variables].toSorted()
}

const [identity, s3, tokens] = ['dashkeep-identity', 'dashkeep-s3', 'dashkeep-tokens']

/** An archive with one backup, encrypted as said, and a configuration that names files for secrets. */
async function backUp(trial: Trial, encryption: object) {
  const token = await trial.write('token', `${trial.env.DASHKEEP_API_TOKEN}\n`)
  const config = await trial.write('dashkeep.yaml', {
    service: { baseUrl: trial.sandbox.url },
    accounts: [{ name: 'shop', token: { file: token } }],
    encryption,
    retention: { daily: 3 },
  })
  const env = {
    DASHKEEP_CONFIG: config,
    DASHKEEP_API_TOKEN: undefined,
    DASHKEEP_BASE_URL: undefined,
  }
  expect(await trial.run(['backup'], env)).toMatchObject({ exitCode: 0 })
  await rm(token)
  return env
}

describe('a Job has the Secrets that its command needs', () => {
  it.each([
    ['backup', [s3, tokens]],
    ['prune', [s3]],
    ['verify', [identity, s3, tokens]],
    ['drill', [identity, s3, tokens]],
    ['toolbox', [identity, s3, tokens]],
  ])('%s', (component, expected) => {
    expect(secretsOf(component)).toEqual(expected)
  })

  it('and they suffice for an archive with a passphrase', async () => {
    await using trial = await startTrial()
    const file = await trial.write('passphrase', 'correct horse battery staple\n')
    const env = await backUp(trial, { passphrase: { file } })
    expect(await trial.run(['verify'], env)).toMatchObject({ exitCode: 0 })
    expect(await trial.run(['restore', '--drill'], env)).toMatchObject({ exitCode: 0 })
    await rm(file)
    expect(await trial.run(['prune', '--yes'], env)).toMatchObject({ exitCode: 0 })
  })

  it('and they suffice for an archive with recipients; without the key a drill is not called damage', async () => {
    await using trial = await startTrial()
    const key = await generateIdentity()
    const env = await backUp(trial, { recipients: [await identityToRecipient(key)] })
    const keyed = { ...env, DASHKEEP_IDENTITY: `# created: 2026-11-20\n${key}\n` }
    for (const args of [['verify'], ['restore', '--drill'], ['prune', '--yes']]) {
      expect(await trial.run(args, keyed)).toMatchObject({ exitCode: 0 })
    }
    expect(await trial.run(['verify'], env)).toMatchObject({ exitCode: 0 })
    const { exitCode, stderr } = await trial.run(['restore', '--drill'], env)
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('no key is configured')])
  })
})
