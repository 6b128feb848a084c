import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { leaveOut } from '../left-out.ts'
import {
  defineOperatorKinds,
  hasReadyNode,
  kubeconfig,
  kubectl,
  makeNamespace,
  until,
} from './cluster.ts'
import { createTokens, openToolbox, runJob, setUpTrial, type Trial } from './cluster-trial.ts'
import { writeOverlay } from './overlay.ts'
import { k8sFolder } from './render.ts'

const wanted = kubeconfig !== undefined
const image = process.env.DASHKEEP_TEST_K8S_IMAGE
const podsWanted = wanted && image !== undefined && (await hasReadyNode())

if (!wanted)
  leaveOut(
    'a real Kubernetes cluster',
    'by naming its file of credentials in DASHKEEP_TEST_KUBECONFIG',
  )
else if (!podsWanted) {
  const needs = 'with a Ready node, and its image of dashkeep in DASHKEEP_TEST_K8S_IMAGE'
  leaveOut('pods of a real Kubernetes cluster', needs)
}

const timeout = 600_000
const overlays = [
  'base',
  'volume',
  ...(await readdir(join(k8sFolder, 'overlays'))).map((n) => `overlays/${n}`),
]
const operatorKinds = {
  podmonitors: 'PodMonitor',
  prometheusrules: 'PrometheusRule',
  servicemonitors: 'ServiceMonitor',
}

describe.skipIf(!wanted)('a real API server', { timeout }, () => {
  let operator: AsyncDisposable
  beforeAll(async () => {
    operator = await defineOperatorKinds(operatorKinds)
  }, timeout)
  afterAll(() => operator?.[Symbol.asyncDispose](), timeout)

  it.each(overlays)(
    'accepts %s without warnings, and changes nothing the second time',
    async (base) => {
      await using namespace = await makeNamespace()
      await using overlay = await writeOverlay({ base, namespace: namespace.name })
      const apply = (...options: string[]) =>
        kubectl(['apply', '--kustomize', overlay.folder, ...options])
      expect((await apply('--dry-run=server')).stderr).toBe('')
      expect((await apply()).stderr).toBe('')
      for (const again of [await apply('--dry-run=server'), await apply()]) {
        expect(again.stderr).toBe('')
        const changed = again.stdout
          .trim()
          .split('\n')
          .filter((line) => !line.includes(' unchanged'))
        expect(changed).toEqual([])
      }
    },
  )

  it('starts a pod for every CronJob under Pod Security "restricted"', async () => {
    await using namespace = await makeNamespace()
    await using overlay = await writeOverlay({
      namespace: namespace.name,
      components: ['many-accounts', 'judge', 'weekly', 'prune', 'copy', 'folder'],
    })
    await kubectl(['apply', '--kustomize', overlay.folder])
    const cronJobs = (await namespace.list('cronjobs')).map(({ metadata }) => metadata.name)
    expect(cronJobs.length).toBe(7)
    for (const name of cronJobs) {
      const created = await namespace.kubectl(['create', 'job', `--from=cronjob/${name}`, name])
      expect(created.stderr).toBe('')
      await until(`a pod of ${name}`, async () => {
        const pods = await namespace.list('pods', `--selector=job-name=${name}`)
        return pods.length > 0 || undefined
      })
    }
  })

  it('keeps namespace, volume and Secrets when an overlay is deleted', async () => {
    await using namespace = await makeNamespace()
    await using overlay = await writeOverlay({
      namespace: namespace.name,
      components: ['weekly', 'worker', 'folder'],
    })
    const kinds = 'cronjobs,deployments,jobs,services,configmaps,networkpolicies,serviceaccounts'
    const ours = () => namespace.list(kinds, '--selector=app.kubernetes.io/name=dashkeep')
    await createTokens(namespace)
    await namespace.kubectl(['apply', '--kustomize', join(k8sFolder, 'volume')])
    await kubectl(['apply', '--kustomize', overlay.folder])
    expect(await ours()).not.toEqual([])
    await kubectl(['delete', '--kustomize', overlay.folder])
    expect(await ours()).toEqual([])
    const kept = await namespace.list('persistentvolumeclaims,secrets')
    const names = kept.map(({ metadata }) => metadata.name)
    expect(names).toEqual(expect.arrayContaining(['dashkeep-archive', 'dashkeep-tokens']))
    expect(kept.filter(({ metadata }) => 'deletionTimestamp' in metadata)).toEqual([])
    const { stdout } = await kubectl(['get', 'namespace', namespace.name, '--output=name'])
    expect(stdout.trim()).toBe(`namespace/${namespace.name}`)
  })
})

describe.skipIf(!podsWanted)('pods of a real cluster', { timeout }, () => {
  let trial: Trial
  const run = (cronJob: string, job: string) => runJob(trial.namespace, { cronJob, job })

  beforeAll(async () => {
    trial = await setUpTrial(image ?? '', ['weekly', 'prune', 'exporter'])
    const backup = await run('dashkeep', 'backup')
    expect(backup).toMatchObject({ result: 'Complete', exitCodes: [0] })
  }, timeout)

  afterAll(() => trial?.[Symbol.asyncDispose](), timeout)

  it.each([
    ['verify', 'verified 2 snapshots'],
    ['drill', '2 of 2 accounts restored into a sandbox'],
    ['prune', 'Nothing to remove'],
  ])('run %s as a Job', async (name, words) => {
    const { result, log } = await run(`dashkeep-${name}`, name)
    expect({ result, log }).toEqual({ result: 'Complete', log: expect.stringContaining(words) })
  })

  it('list, compare and restore in the toolbox', async () => {
    const dashkeep = await openToolbox(trial.namespace, 'toolbox')
    expect((await dashkeep('list')).stdout).toContain('2 snapshots in')
    expect((await dashkeep('diff', 'latest', '--account=shop')).stdout).toContain('3 unchanged')
    const restore = ['restore', '--account=shop', '--to-service', '--into-account=staging']
    await expect(dashkeep(...restore)).rejects.toMatchObject({
      code: 2,
      stdout: expect.stringContaining('Nothing was sent'),
    })
    await dashkeep(...restore, '--yes')
    const compared = await dashkeep('diff', 'latest', '--account=staging', '--json')
    expect(compared.stdout).toContain('shop-overview')
  })

  it('of the exporter become ready', async () => {
    const { namespace } = trial
    await namespace.kubectl(['rollout', 'status', 'deployment/dashkeep-exporter', '--timeout=180s'])
  })

  it('of the worker answer commands', async () => {
    await using worker = await setUpTrial(image ?? '', ['worker'])
    const { namespace } = worker
    await namespace.kubectl(['rollout', 'status', 'deployment/dashkeep-worker', '--timeout=180s'])
    const exec = ['exec', 'deployment/dashkeep-worker', '--', 'dashkeep']
    await namespace.kubectl([...exec, 'backup'])
    expect((await namespace.kubectl([...exec, 'status'])).stdout).toMatch(/shop.*good/)
  })

  it('do not try a refused token again', async () => {
    await createTokens(trial.namespace, { shop: 'refused', staging: 'refused' })
    const { result, exitCodes } = await run('dashkeep', 'refused')
    await createTokens(trial.namespace)
    expect({ result, exitCodes }).toEqual({ result: 'PodFailurePolicy', exitCodes: [2] })
  })

  it('find their snapshots after the overlay was deleted and applied again', async () => {
    await kubectl(['delete', '--kustomize', trial.overlay.folder])
    await kubectl(['apply', '--kustomize', trial.overlay.folder])
    const dashkeep = await openToolbox(trial.namespace, 'toolbox-again')
    expect((await dashkeep('verify')).stdout).toMatch(/every file matches its manifest/)
  })
})
