import { version } from '../../src/version.ts'
import { type Container, type PodSpec, podOf, type Resource } from './render.ts'

/** Volumes that Pod Security "restricted" lets a pod have. */
const allowedVolumes = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
]

/**
 * What keeps the pods of a resource out of a namespace with Pod Security "restricted", or does not
 * go with what is asked of every pod here: no token of the cluster, nothing written but to volumes,
 * bounded memory, an image of this version. `anyUser`: the cluster chooses the user.
 */
export function findPodProblems(resource: Resource, { anyUser = false } = {}): string[] {
  const spec = podOf(resource)?.spec
  if (spec === undefined) return []
  const containers = [...(spec.initContainers ?? []), ...spec.containers]
  return [
    ...restartProblems(resource, spec),
    ...podProblems(spec, anyUser),
    ...containers.flatMap((container) => [
      ...securityProblems(container),
      ...resourceProblems(container),
      ...secretProblems(container),
    ]),
  ]
}

function restartProblems({ kind }: Resource, { restartPolicy }: PodSpec): string[] {
  const expected = kind === 'Deployment' ? ['Always', undefined] : ['Never']
  if (expected.includes(restartPolicy)) return []
  return [`restartPolicy is ${restartPolicy}, where a ${kind} needs ${expected[0]}`]
}

function podProblems(spec: PodSpec, anyUser: boolean): string[] {
  const problems: string[] = []
  for (const shared of ['hostNetwork', 'hostPID', 'hostIPC']) {
    if (spec[shared]) problems.push(`${shared} is on`)
  }
  const { runAsNonRoot, runAsUser, seccompProfile } = spec.securityContext ?? {}
  if (runAsNonRoot !== true) problems.push('runAsNonRoot is not set')
  const isUser = typeof runAsUser === 'number' && runAsUser > 0
  if (anyUser ? runAsUser !== undefined : !isUser) problems.push('runAsUser is not a user')
  if ((seccompProfile as { type?: string } | undefined)?.type !== 'RuntimeDefault') {
    problems.push('seccompProfile is not RuntimeDefault')
  }
  if (spec.automountServiceAccountToken !== false) problems.push("mounts the cluster's token")
  for (const { name, ...source } of spec.volumes ?? []) {
    const [type = ''] = Object.keys(source)
    if (!allowedVolumes.includes(type)) problems.push(`the volume ${name} is of type ${type}`)
  }
  return problems
}

function securityProblems({ name, securityContext = {}, ports = [], image }: Container): string[] {
  const problems: string[] = []
  const { privileged, allowPrivilegeEscalation, readOnlyRootFilesystem } = securityContext
  const { capabilities, runAsNonRoot, runAsUser } = securityContext
  if (privileged) problems.push('is privileged')
  if (allowPrivilegeEscalation !== false) problems.push('may gain privileges')
  if (readOnlyRootFilesystem !== true) problems.push('may write to its root')
  if (!capabilities?.drop?.includes('ALL') || capabilities.add !== undefined) {
    problems.push('keeps capabilities')
  }
  if (runAsNonRoot === false || runAsUser === 0) problems.push('may run as root')
  if (ports.some(({ hostPort }) => hostPort !== undefined)) problems.push("takes a node's port")
  if (!image.endsWith(`:${version}`)) problems.push(`has the image ${image}, not of ${version}`)
  return problems.map((problem) => `the container ${name} ${problem}`)
}

function resourceProblems({ name, resources = {} }: Container): string[] {
  const { requests = {}, limits = {} } = resources
  const problems: string[] = []
  if (limits.memory === undefined) problems.push('has no limit of memory')
  for (const what of ['cpu', 'memory']) {
    const request = requests[what]
    if (request === undefined) problems.push(`requests no ${what}`)
    else if (toNumber(request) > toNumber(limits[what] ?? 'unlimited')) {
      problems.push(`requests ${request} of ${what}, more than its limit of ${limits[what]}`)
    }
  }
  return problems.map((problem) => `the container ${name} ${problem}`)
}

const units: Record<string, number> = {
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  Ki: 1024,
  Mi: 1024 ** 2,
  Gi: 1024 ** 3,
}

/** A quantity as a number; infinite when it is none, which the schema says. */
function toNumber(quantity: string): number {
  const [, digits, unit = ''] = /^([\d.]+)([a-zA-Z]*)$/.exec(quantity) ?? []
  return digits === undefined ? Number.POSITIVE_INFINITY : Number(digits) * (units[unit] ?? 1)
}

function secretProblems({ name, env = [] }: Container): string[] {
  return env
    .filter((one) => one.value !== undefined && isSecretName(one.name))
    .map((one) => `the container ${name} has the value of ${one.name} in its manifest`)
}

/** Whether a variable or member of this name holds a secret itself. */
export function isSecretName(name: string): boolean {
  return /(token|secret|password|passphrase|access_?key(_?id)?|identity)$/i.test(name)
}
