import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findProblems } from './relations.ts'
import { k8sFolder, patchResource, type Resource, render } from './render.ts'

const job = '/spec/jobTemplate/spec'
const pod = `${job}/template/spec`
const container = `${pod}/containers/0`
const security = `${container}/securityContext`
const token = { name: 'DASHKEEP_API_TOKEN', value: 'x' }
const shards = { name: 'DASHKEEP_SHARDS', value: '8' }
const nodeFolder = { name: 'x', hostPath: { path: '/' } }

/** A slip somebody may make: a change as in RFC 6902, and what has to be said of it. */
interface Mistake {
  readonly name: string
  /** What it happens to; the CronJob when left out. */
  readonly kind?: string
  readonly op: 'add' | 'replace' | 'remove'
  readonly path: string
  readonly value?: unknown
  readonly problem: string
}

function add(name: string, path: string, value: unknown, problem: string): Mistake {
  return { name, op: 'add', path, value, problem }
}

function replace(name: string, path: string, value: unknown, problem: string): Mistake {
  return { name, op: 'replace', path, value, problem }
}

function remove(name: string, path: string, problem: string): Mistake {
  return { name, op: 'remove', path, problem }
}

function within(kind: string, mistake: Mistake): Mistake {
  return { ...mistake, kind }
}

const inSchemas: readonly Mistake[] = [
  add('an unknown field', `${job}/backofLimit`, 2, '/backofLimit is an unknown field'),
  add('an unknown field of a container', `${container}/comand`, [], 'is an unknown field'),
  replace('a bad quantity', `${container}/resources/limits/memory`, '256MB', 'format "quantity"'),
  replace('a number as a text', `${job}/backoffLimit`, '2', 'must be integer'),
  replace('a bad action', `${job}/podFailurePolicy/rules/0/action`, 'Skip', 'must be equal to one'),
  remove('no schedule', '/spec/schedule', 'required property schedule'),
]

const inTime: readonly Mistake[] = [
  replace('a bad cron text', '/spec/schedule', '15 25 * * *', 'is no cron text'),
  replace('seconds in a cron text', '/spec/schedule', '0 15 3 * * *', 'is no cron text'),
  replace('a bad zone', '/spec/timeZone', 'Europe/Berlinn', 'is no time zone'),
  replace('a zone that only Node knows', '/spec/timeZone', '+01:00', 'is no time zone'),
  replace('runs that overlap', '/spec/concurrencyPolicy', 'Allow', 'may overlap with itself'),
  remove('a run that never ends', `${job}/activeDeadlineSeconds`, 'has no deadline'),
]

const inPods: readonly Mistake[] = [
  replace('restartPolicy Always', `${pod}/restartPolicy`, 'Always', 'restartPolicy is Always'),
  replace(
    'a request over its limit',
    `${container}/resources/requests/memory`,
    '1Gi',
    'requests 1Gi of memory, more than its limit of 256Mi',
  ),
  remove('no limit', `${container}/resources/limits`, 'has no limit of memory'),
  replace('a writable root', `${security}/readOnlyRootFilesystem`, false, 'may write to its root'),
  add('a privileged container', `${security}/privileged`, true, 'is privileged'),
  remove('capabilities', `${security}/capabilities`, 'keeps capabilities'),
  replace('root', `${pod}/securityContext/runAsUser`, 0, 'runAsUser is not a user'),
  add('a folder of the node', `${pod}/volumes/-`, nodeFolder, 'is of type hostPath'),
  remove("the cluster's token", `${pod}/automountServiceAccountToken`, "the cluster's token"),
  replace('just any image', `${container}/image`, 'dashkeep:latest', 'has the image'),
]

const inSecrets: readonly Mistake[] = [
  within(
    'ConfigMap',
    add('a token in a ConfigMap', `/data/${token.name}`, token.value, 'holds a secret'),
  ),
  within(
    'ConfigMap',
    replace('a token in the configuration', '/data/dashkeep.yaml', 'token: x', 'holds a secret'),
  ),
  add('a token in a variable', `${container}/env/-`, token, `the value of ${token.name}`),
]

const inRelations: readonly Mistake[] = [
  within(
    'ServiceAccount',
    remove('a missing namespace', '/metadata/namespace', 'has no namespace'),
  ),
  within(
    'ServiceAccount',
    replace('another namespace', '/metadata/namespace', 'x', 'in the namespace x, others are in'),
  ),
  replace('no such ConfigMap', `${pod}/volumes/0/configMap/name`, 'x', 'names the ConfigMap x'),
  remove('no such volume', `${pod}/volumes/1`, 'mounts the volume tokens, which is not there'),
  replace('no such verb', `${container}/args`, ['backups'], 'backups is no verb'),
  replace('no such option', `${container}/args`, ['backup', '--ful'], '--ful is no option'),
  add('shards without an index', `${container}/env/-`, shards, 'DASHKEEP_SHARDS, but no index'),
  within(
    'NetworkPolicy',
    replace('a policy for nobody', '/spec/podSelector/matchLabels', { a: 'x' }, 'selects no pod'),
  ),
  within(
    'ConfigMap',
    replace('a slip in the configuration', '/data/dashkeep.yaml', 'acounts: []', 'unknown key'),
  ),
]

const inApplying: readonly Mistake[] = [
  within(
    'NetworkPolicy',
    add('an empty list, which the API server leaves out', '/spec/ingress', [], 'ingress is empty'),
  ),
  remove(
    'a status that the API server adds',
    `${job}/podFailurePolicy/rules/0/onPodConditions/0/status`,
    'the condition DisruptionTarget leaves its status to the API server',
  ),
  replace('keys of the machine', `${container}/env/2/value`, 'false', 'asks the machine for keys'),
  replace('keys that a restart has to pick up', `${container}/env/1/name`, 'X', 'does not read'),
]

describe('the checks refuse', () => {
  it.each([...inSchemas, ...inTime, ...inPods, ...inSecrets, ...inRelations, ...inApplying])(
    '$name',
    async ({ kind = 'CronJob', problem, ...operation }) => {
      const resources = await render(join(k8sFolder, 'base'))
      patchResource(resources.find((one) => one.kind === kind) as Resource, operation)
      expect((await findProblems(resources)).join('\n')).toContain(problem)
    },
  )

  it.each(['Namespace', 'PersistentVolumeClaim', 'Secret'])(
    'a %s, which would be deleted with the overlay',
    async (kind) => {
      const resources = await render(join(k8sFolder, 'base'))
      const metadata = { name: 'x', namespace: 'dashkeep' }
      resources.push({ apiVersion: 'v1', kind, metadata })
      const problems = await findProblems(resources)
      expect(problems).toContain(`${kind} x: a ${kind} would be deleted with the overlay`)
    },
  )

  it('shards that no pod has', async () => {
    const resources = await render(join(k8sFolder, 'overlays/many-accounts'))
    const cronJob = resources.find(({ kind }) => kind === 'CronJob') as Resource
    patchResource(cronJob, { op: 'replace', path: `${job}/completions`, value: 4 })
    const problems = await findProblems(resources)
    expect(problems).toContain('CronJob dashkeep: 4 pods do not have all of 8 shards')
  })

  it('a probe of a port that is not there', async () => {
    const resources = await render(join(k8sFolder, 'overlays/worker'))
    const worker = resources.find(({ kind }) => kind === 'Deployment') as Resource
    const path = '/spec/template/spec/containers/0/livenessProbe/httpGet/port'
    patchResource(worker, { op: 'replace', path, value: 'metrics' })
    const problems = await findProblems(resources)
    expect(problems).toContain(
      'Deployment dashkeep-worker: names the port metrics, which is not there',
    )
  })

  it('an exporter that listens on loopback', async () => {
    const resources = await render(join(k8sFolder, 'overlays/production'))
    const exporter = resources.find(({ kind }) => kind === 'Deployment') as Resource
    const path = '/spec/template/spec/containers/0/args/1'
    patchResource(exporter, { op: 'replace', path, value: '--listen=127.0.0.1:5337' })
    expect(await findProblems(resources)).toEqual([
      'Deployment dashkeep-exporter: listens on 127.0.0.1:5337, where nobody asks',
    ])
  })

  it.each([
    ['loopback', '127.0.0.1:5337'],
    ['another port than the declared one', '0.0.0.0:5338'],
  ])('a worker that listens on %s', async (_name, value) => {
    const resources = await render(join(k8sFolder, 'overlays/worker'))
    const worker = resources.find(({ kind }) => kind === 'Deployment') as Resource
    const path = '/spec/template/spec/containers/0/env/3/value'
    patchResource(worker, { op: 'replace', path, value })
    expect(await findProblems(resources)).toEqual([
      `Deployment dashkeep-worker: listens on ${value}, where nobody asks`,
    ])
  })
})
