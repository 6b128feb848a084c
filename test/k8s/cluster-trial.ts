import { join } from 'node:path'
import { stringify } from 'yaml'
import { sampleApiToken, sampleSubAccountToken } from '../../src/sandbox/sample-account.ts'
import { isTrue, kubectl, makeNamespace, type Namespace, type Printed, until } from './cluster.ts'
import { type Overlay, writeOverlay } from './overlay.ts'
import { k8sFolder, type Resource } from './render.ts'

const port = 8080
const restricted = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
}

/** Two accounts, their service and an overlay of dashkeep in a namespace. Disposing removes all of it. */
export interface Trial extends AsyncDisposable {
  readonly namespace: Namespace
  readonly overlay: Overlay
}

/** Sets up a trial with these components, whose archive is on a volume of the cluster. */
export async function setUpTrial(image: string, components: readonly string[]): Promise<Trial> {
  await using stack = new AsyncDisposableStack()
  const namespace = stack.use(await makeNamespace())
  const service = await startSandbox(namespace, image)
  const options = { service, image, components: [...components, 'folder'] }
  const overlay = stack.use(await writeSandboxOverlay(namespace, options))
  await createTokens(namespace)
  await namespace.kubectl(['apply', '--kustomize', join(k8sFolder, 'volume')])
  await kubectl(['apply', '--kustomize', overlay.folder])
  const all = stack.move()
  return { namespace, overlay, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

/** Starts the service as a pod that dashkeep may reach. Returns its address within the cluster. */
async function startSandbox(namespace: Namespace, image: string): Promise<string> {
  const labels = { app: 'service' }
  await namespace.apply(
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'service', labels },
      spec: {
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
        containers: [
          {
            name: 'service',
            image,
            args: ['sandbox', '--form=deployed', '--host=0.0.0.0', `--port=${port}`],
            readinessProbe: { tcpSocket: { port }, periodSeconds: 1 },
            securityContext: restricted,
          },
        ],
      },
    },
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'service' },
      spec: {
        podSelector: { matchLabels: { 'app.kubernetes.io/name': 'dashkeep' } },
        policyTypes: ['Egress'],
        egress: [{ to: [{ podSelector: { matchLabels: labels } }], ports: [{ port }] }],
      },
    },
  )
  await namespace.kubectl(['wait', 'pod/service', '--for=condition=Ready', '--timeout=180s'])
  const address = ['get', 'pod', 'service', '--output=jsonpath={.status.podIP}']
  return `http://${(await namespace.kubectl(address)).stdout}:${port}`
}

/** Writes an overlay for the two accounts of a service in the cluster. */
async function writeSandboxOverlay(
  namespace: Namespace,
  options: { service: string; image: string; components: readonly string[] },
): Promise<Overlay> {
  const configuration = {
    service: { baseUrl: options.service, pathPrefix: '/v1' },
    accounts: [
      { name: 'shop', accountId: 100001, token: { file: '/run/secrets/dashkeep/shop' } },
      { name: 'staging', accountId: 100002, token: { file: '/run/secrets/dashkeep/staging' } },
    ],
    store: { url: 'file:///var/lib/dashkeep/archive' },
    retention: { daily: 7 },
    schedule: { cron: '15 3 * * *' },
  }
  const accounts = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'dashkeep' },
    data: { 'dashkeep.yaml': stringify(configuration) },
  }
  const [newName, newTag] = options.image.split(/:(?=[^/]*$)/)
  const members = {
    namespace: namespace.name,
    components: options.components,
    patches: [{ path: 'accounts.yaml' }],
    images: [{ name: 'dashkeep', newName, newTag }],
  }
  return await writeOverlay(members, { 'accounts.yaml': stringify(accounts) })
}

/** Creates or replaces the Secret with the tokens of the accounts. */
export async function createTokens(
  namespace: Namespace,
  tokens = { shop: sampleApiToken, staging: sampleSubAccountToken },
): Promise<void> {
  const metadata = { name: 'dashkeep-tokens' }
  await namespace.apply({ apiVersion: 'v1', kind: 'Secret', metadata, stringData: tokens })
}

/** Opens the toolbox as a Job of this name. Returns what runs a command of dashkeep in it. */
export async function openToolbox(
  namespace: Namespace,
  job: string,
): Promise<(...args: readonly string[]) => Promise<Printed>> {
  await namespace.kubectl(['create', 'job', '--from=cronjob/dashkeep-toolbox', job])
  await until(`the toolbox ${job}`, async () => {
    const [pod] = await namespace.list('pods', `--selector=job-name=${job}`)
    return isTrue(pod?.status, 'Ready') || undefined
  })
  return (...args) => namespace.kubectl(['exec', `job/${job}`, '--', 'dashkeep', ...args])
}

/** How a Job ended. */
export interface JobResult {
  /** Complete, or the reason of its failure. */
  readonly result: string
  /** The exit code of each of its pods. */
  readonly exitCodes: readonly (number | undefined)[]
  readonly log: string
}

/** Runs a CronJob at once, as an operator does by hand, and waits for its end. */
export async function runJob(
  namespace: Namespace,
  { cronJob, job }: { cronJob: string; job: string },
): Promise<JobResult> {
  await namespace.kubectl(['create', 'job', `--from=cronjob/${cronJob}`, job])
  const status = await until(`the end of job ${job}`, async () => {
    const [found] = await namespace.list('jobs', `--field-selector=metadata.name=${job}`)
    return ['Complete', 'Failed'].some((type) => isTrue(found?.status, type))
      ? (found?.status as { conditions: { type: string; status: string; reason?: string }[] })
      : undefined
  })
  const failed = status.conditions.find(
    ({ type, status }) => type === 'Failed' && status === 'True',
  )
  const pods = await namespace.list('pods', `--selector=job-name=${job}`)
  const { stdout } = await namespace.kubectl(['logs', `--selector=job-name=${job}`, '--tail=-1'])
  return { result: failed?.reason ?? 'Complete', exitCodes: pods.map(exitCodeOf), log: stdout }
}

function exitCodeOf(pod: Resource): number | undefined {
  const { containerStatuses = [] } = pod.status as {
    containerStatuses?: { state: { terminated?: { exitCode: number } } }[]
  }
  return containerStatuses[0]?.state.terminated?.exitCode
}
