import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { validate as isCron } from 'node-cron'
import { createProgram } from '../../src/cli/program.ts'
import type { Config } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load.ts'
import { findPodProblems, isSecretName } from './pods.ts'
import { type Container, containersOf, type PodSpec, podOf, type Resource } from './render.ts'
import { findSchemaProblems } from './schema.ts'

/** Everything that is wrong with what would be sent to a cluster; each line names its resource. */
export async function findProblems(
  resources: readonly Resource[],
  options: { readonly anyUser?: boolean } = {},
): Promise<string[]> {
  const problems: string[] = []
  for (const resource of resources) {
    const found = [
      ...findSchemaProblems(resource),
      ...namespaceProblems(resource, resources),
      ...deletionProblems(resource),
      ...applyProblems(resource),
      ...scheduleProblems(resource),
      ...jobProblems(resource),
      ...findPodProblems(resource, options),
      ...referenceProblems(resource, resources),
      ...credentialProblems(resource),
      ...portProblems(resource, resources),
      ...secretProblems(resource),
      ...(await commandProblems(resource, resources)),
    ]
    problems.push(...found.map((one) => `${resource.kind} ${resource.metadata.name}: ${one}`))
  }
  const names = resources.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
  const twice = names.filter((name, place) => names.indexOf(name) < place)
  return [...problems, ...twice.map((name) => `${name}: comes twice`)]
}

function namespaceProblems({ metadata }: Resource, resources: readonly Resource[]): string[] {
  const { namespace } = metadata
  if (namespace === undefined) return ['has no namespace']
  const other = resources.find((one) => one.metadata.namespace !== namespace)?.metadata.namespace
  return other === undefined ? [] : [`is in the namespace ${namespace}, others are in ${other}`]
}

/** What `kubectl delete --kustomize` must not remove: backups, keys, and whatever else is there. */
function deletionProblems({ kind }: Resource): string[] {
  const kept = ['Namespace', 'PersistentVolume', 'PersistentVolumeClaim', 'Secret']
  return kept.includes(kind) ? [`a ${kind} would be deleted with the overlay`] : []
}

/** What the API server returns in another form, so that each `kubectl apply` changes it again. */
function applyProblems(resource: Resource): string[] {
  const job = resource.kind === 'CronJob' ? (resource.spec as CronJobSpec).jobTemplate.spec : {}
  const conditions = (job.podFailurePolicy?.rules ?? []).flatMap((one) => one.onPodConditions ?? [])
  return [
    ...emptyPlaces(resource, '').map((place) => `${place} is empty`),
    ...conditions
      .filter(({ status }) => status === undefined)
      .map(({ type }) => `the condition ${type} leaves its status to the API server`),
  ]
}

/** Lists and members without content: the API server leaves these out, but for `emptyDir`. */
function emptyPlaces(value: unknown, place: string): string[] {
  if (value === null) return [place]
  if (typeof value !== 'object' || place.endsWith('/emptyDir')) return []
  const members = Object.entries(value)
  if (members.length === 0) return [place]
  return members.flatMap(([key, member]) => emptyPlaces(member, `${place}/${key}`))
}

export interface CronJobSpec {
  readonly schedule: string
  readonly timeZone?: string
  readonly concurrencyPolicy?: string
  readonly startingDeadlineSeconds?: number
  readonly jobTemplate: { readonly spec: JobSpec }
}

export interface JobSpec {
  readonly completionMode?: string
  readonly completions?: number
  readonly parallelism?: number
  readonly backoffLimit?: number
  readonly backoffLimitPerIndex?: number
  readonly activeDeadlineSeconds?: number
  readonly podFailurePolicy?: {
    readonly rules: readonly {
      readonly action: string
      readonly onExitCodes?: { readonly containerName?: string; readonly values: number[] }
      readonly onPodConditions?: readonly { readonly type: string; readonly status?: string }[]
    }[]
  }
}

function scheduleProblems({ kind, spec }: Resource): string[] {
  if (kind !== 'CronJob') return []
  const { schedule = '', timeZone, ...rest } = spec as Partial<CronJobSpec>
  const problems: string[] = []
  if (schedule.trim().split(/\s+/).length !== 5 || !isCron(schedule)) {
    problems.push(`${schedule} is no cron text`)
  }
  if (timeZone === undefined || !isTimeZone(timeZone)) {
    problems.push(`${timeZone} is no time zone`)
  }
  if (rest.concurrencyPolicy !== 'Forbid') problems.push('may overlap with itself')
  // The controller looks every ten seconds and would miss a shorter one.
  if ((rest.startingDeadlineSeconds ?? 0) < 10)
    problems.push('startingDeadlineSeconds is too short')
  return problems
}

/** The names that Go knows; Node takes offsets and any case as well. */
function isTimeZone(zone: string): boolean {
  if (!/^[A-Z]\w+(\/[A-Z][\w+-]*)*$/.test(zone)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }) !== undefined
  } catch {
    return false
  }
}

function jobProblems(resource: Resource): string[] {
  if (resource.kind !== 'CronJob') return []
  const job = (resource.spec as CronJobSpec).jobTemplate.spec
  const problems: string[] = []
  if (job.activeDeadlineSeconds === undefined) problems.push('has no deadline')
  const containers = containersOf(resource)
  for (const { action, onExitCodes } of job.podFailurePolicy?.rules ?? []) {
    const name = onExitCodes?.containerName
    if (name !== undefined && !containers.some((one) => one.name === name)) {
      problems.push(`a rule is for the container ${name}, which is not there`)
    }
    const perIndex = job.backoffLimitPerIndex !== undefined
    if (action === 'FailIndex' && !perIndex) problems.push('FailIndex needs backoffLimitPerIndex')
    if (action === 'FailJob' && perIndex) problems.push('FailJob lets one index end the others')
  }
  return [...problems, ...shardProblems(job, containers)]
}

function shardProblems(job: JobSpec, containers: ReturnType<typeof containersOf>): string[] {
  const shards = containers
    .flatMap(({ env = [] }) => env)
    .find(({ name }) => name === 'DASHKEEP_SHARDS')?.value
  if (job.completionMode !== 'Indexed') {
    return shards === undefined ? [] : ['has DASHKEEP_SHARDS, but no index']
  }
  const problems: string[] = []
  if (String(job.completions) !== shards) {
    problems.push(`${job.completions} pods do not have all of ${shards} shards`)
  }
  if ((job.parallelism ?? 1) > (job.completions ?? 1)) problems.push('more pods than shards')
  return problems
}

/** What k8s/volume makes; it stays when an overlay is deleted. */
const claims = ['dashkeep-archive']

/** What a pod names has to be there, but for Secrets, which must not. */
function referenceProblems(resource: Resource, resources: readonly Resource[]): string[] {
  const pod = podOf(resource)?.spec
  if (pod === undefined) return []
  const missing = (kind: string, name: string | undefined) =>
    resources.some((one) => one.kind === kind && one.metadata.name === name)
      ? []
      : [`names the ${kind} ${name}, which is not there`]
  const volumes = (pod.volumes ?? []) as {
    name: string
    configMap?: { name: string }
    persistentVolumeClaim?: { claimName: string }
  }[]
  const mounts = containersOf(resource).flatMap(({ volumeMounts = [] }) => volumeMounts)
  return [
    ...missing('ServiceAccount', pod.serviceAccountName),
    ...volumes.flatMap(({ configMap, persistentVolumeClaim: claim }) => [
      ...(configMap ? missing('ConfigMap', configMap.name) : []),
      ...(claim && !claims.includes(claim.claimName) ? [`names the claim ${claim.claimName}`] : []),
    ]),
    ...mounts
      .filter((mount) => !volumes.some(({ name }) => name === mount.name))
      .map(({ name }) => `mounts the volume ${name}, which is not there`),
  ]
}

/**
 * The keys of the bucket come from a file, so that they can be rotated without a restart. They are not
 * looked for where the NetworkPolicy lets nobody go: the error would name the wrong place.
 */
function credentialProblems(resource: Resource): string[] {
  const volume = podOf(resource)?.spec.volumes?.find(({ secret }) =>
    (secret as { secretName?: string } | undefined)?.secretName?.startsWith('dashkeep-s3'),
  )
  return containersOf(resource).flatMap(({ name, env = [], volumeMounts = [] }) => {
    const mount = volumeMounts.find((one) => one.name === volume?.name)
    const variable = (wanted: string) => env.find((one) => one.name === wanted)?.value
    const path = variable('AWS_SHARED_CREDENTIALS_FILE')
    const reads = mount !== undefined && path === `${mount.mountPath}/credentials`
    const asksMachine = variable('AWS_EC2_METADATA_DISABLED') !== 'true'
    return [
      ...(reads ? [] : [`the container ${name} does not read the file of the Secret dashkeep-s3`]),
      ...(asksMachine ? [`the container ${name} asks the machine for keys`] : []),
    ]
  })
}

interface Selecting {
  readonly selector?: Record<string, string> | { matchLabels: Record<string, string> }
  readonly podSelector?: { matchLabels: Record<string, string> }
  readonly ports?: readonly { readonly targetPort?: string }[]
  readonly podMetricsEndpoints?: readonly { readonly port: string }[]
}

/** Selectors have to meet a pod, and ports named by probes and Services have to be its own. */
function portProblems(resource: Resource, resources: readonly Resource[]): string[] {
  const spec = (resource.spec ?? {}) as Selecting
  const selector = spec.podSelector ?? spec.selector
  const problems: string[] = []
  if (selector !== undefined) {
    const wanted = Object.entries(selector.matchLabels ?? selector)
    const chosen = resources.filter((one) => {
      const labels = podOf(one)?.metadata.labels ?? {}
      return podOf(one) && wanted.every(([key, value]) => labels[key] === value)
    })
    if (chosen.length === 0) problems.push('selects no pod')
    if (resource.kind === 'Deployment' && !chosen.includes(resource)) {
      problems.push('does not select its own pods')
    }
    const named = [
      ...(spec.ports ?? []).flatMap(({ targetPort }) => targetPort ?? []),
      ...(spec.podMetricsEndpoints ?? []).map(({ port }) => port),
    ]
    problems.push(...missingPorts(named, chosen))
  }
  for (const container of containersOf(resource)) {
    const probes = ['startupProbe', 'livenessProbe', 'readinessProbe']
    const named = probes.flatMap((probe) => {
      const { httpGet } = (container[probe] ?? {}) as { httpGet?: { port: string } }
      return httpGet?.port ?? []
    })
    problems.push(...missingPorts(named, [resource]))
  }
  return problems
}

function missingPorts(names: readonly string[], chosen: readonly Resource[]): string[] {
  const ports = chosen.flatMap(containersOf).flatMap((container) => container.ports ?? [])
  return names
    .filter((name) => !ports.some((port) => port.name === name))
    .map((name) => `names the port ${name}, which is not there`)
}

/** A secret comes from a Secret that somebody else makes; it never stands in a manifest. */
function secretProblems({ kind, data }: Resource): string[] {
  if (kind !== 'ConfigMap') return []
  return Object.entries((data ?? {}) as Record<string, string>).flatMap(([key, text]) => {
    const members = [...text.matchAll(/["']?([\w-]+)["']?[ \t]*[:=][ \t]*["']?([^\s"',{}[\]|>]+)/g)]
    const given = members.find(([, name = '']) => isSecretName(name))
    const isUuid = /\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/i.test(text)
    return isSecretName(key) || given || isUuid ? [`${key} holds a secret`] : []
  })
}

/** The verb and its options have to be dashkeep's, and what it is configured with usable. */
async function commandProblems(
  resource: Resource,
  resources: readonly Resource[],
): Promise<string[]> {
  const problems: string[] = []
  for (const container of containersOf(resource)) {
    const { args = [], command, env = [] } = container
    if (command === undefined) problems.push(...verbProblems(args))
    const given = env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]]))
    const variables = Object.fromEntries(given) as Record<string, string>
    const { DASHKEEP_CONFIG: path = '', ...others } = variables
    const file = configMapFile(resource, resources, path)
    const pod = podOf(resource)?.spec
    if (file === undefined) problems.push(`${path} is in no ConfigMap`)
    else problems.push(...(await configProblems(file, others, { container, pod })))
  }
  return problems
}

const io = { stdout: process.stdout, stderr: process.stderr, env: {} } as never
const verbs = createProgram(io, () => {}).commands

function verbProblems([verb = '', ...options]: readonly string[]): string[] {
  const command = verbs.find((one) => one.name() === verb)
  if (command === undefined) return [`${verb} is no verb`]
  return options
    .map((option) => option.split('=')[0])
    .filter((option) => !command.options.some(({ long }) => long === option))
    .map((option) => `${option} is no option of ${verb}`)
}

function configMapFile(
  resource: Resource,
  resources: readonly Resource[],
  path: string,
): string | undefined {
  const mount = containersOf(resource)
    .flatMap(({ volumeMounts = [] }) => volumeMounts)
    .find(({ mountPath }) => path.startsWith(`${mountPath}/`))
  const volume = podOf(resource)?.spec.volumes?.find(({ name }) => name === mount?.name)
  const name = (volume?.configMap as { name?: string } | undefined)?.name
  const map = resources.find((one) => one.kind === 'ConfigMap' && one.metadata.name === name)
  return (map?.data as Record<string, string> | undefined)?.[path.slice(path.lastIndexOf('/') + 1)]
}

async function configProblems(
  file: string,
  env: Record<string, string>,
  { container, pod }: { container: Container; pod: PodSpec | undefined },
): Promise<string[]> {
  const indexed = { ...env, ...(env.DASHKEEP_SHARDS && { JOB_COMPLETION_INDEX: '0' }) }
  const worker = await loadOnce(file, indexed)
  if (typeof worker === 'string') return [worker]
  const graceMs = Number(pod?.terminationGracePeriodSeconds) * 1000
  return [
    ...(graceMs > worker.graceMs || container.command !== undefined
      ? []
      : ['is killed before its own grace is over']),
    ...listenProblems(worker.listen, container),
  ]
}

/** Each configuration that was loaded. Many pods have the same. */
const loaded = new Map<string, Promise<Config['worker'] | string>>()

/** What a configuration says about the worker, or why it is not valid. */
function loadOnce(file: string, env: Record<string, string>): Promise<Config['worker'] | string> {
  const key = JSON.stringify([file, env])
  const loading = loaded.get(key) ?? load(file, env)
  loaded.set(key, loading)
  return loading
}

async function load(file: string, env: Record<string, string>): Promise<Config['worker'] | string> {
  const folder = await mkdtemp(join(tmpdir(), 'dashkeep-k8s-'))
  try {
    const config = join(folder, 'dashkeep.yaml')
    await writeFile(config, file)
    return (await loadConfig(env, { config }, ['accounts', 'store'])).worker
  } catch (error) {
    return (error as Error).message.replace(folder, '').replaceAll('\n', '')
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** What listens has to be reached from outside of its pod, at the port that the pod declares. */
function listenProblems(
  configured: string | undefined,
  { args: [verb, ...options] = [], ports = [] }: Container,
): string[] {
  const given = options.find((option) => option.startsWith('--listen='))?.split('=')[1]
  if (verb !== 'worker' && given === undefined) return []
  const listen = given ?? configured
  const [, host = '', port] = /^(.*):(\d+)$/.exec(listen ?? '') ?? []
  const isDeclared = ports.some(({ containerPort }) => containerPort === Number(port))
  return isDeclared && ['0.0.0.0', '[::]'].includes(host)
    ? []
    : [`listens on ${listen}, where nobody asks`]
}
