import { execFile, execFileSync } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { parse, parseAllDocuments } from 'yaml'

/** A resource of Kubernetes, as it would be sent to a cluster. */
export interface Resource {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    name: string
    namespace?: string
    labels?: Record<string, string>
    annotations?: Record<string, string>
  }
  [member: string]: unknown
}

/** What of kustomize is used in `k8s/`. Anything else is refused. */
interface Kustomization {
  readonly namespace?: string
  readonly resources?: readonly string[]
  readonly components?: readonly string[]
  readonly patches?: readonly { target: { kind: string; name?: string }; patch: string }[]
  readonly images?: readonly { name: string; newName: string; newTag: string }[]
  readonly configMapGenerator?: readonly {
    name: string
    behavior?: 'replace'
    files: readonly string[]
    options: { disableNameSuffixHash: true; labels?: Record<string, string> }
  }[]
}

const known = [
  ...['apiVersion', 'kind', 'namespace', 'resources', 'components', 'patches', 'images'],
  'configMapGenerator',
]

/** Where the manifests are. */
export const k8sFolder = fileURLToPath(new URL('../../k8s/', import.meta.url))

/**
 * Renders an overlay without kustomize, as far as `k8s/` uses it, so that the checks run on every
 * machine. Where there is a `kubectl`, a test holds both against each other.
 */
export async function render(folder: string): Promise<Resource[]> {
  const kustomization = await readKustomization(folder)
  const resources: Resource[] = []
  for (const path of kustomization.resources ?? []) {
    resources.push(...(await renderPath(join(folder, path))))
  }
  await finish(folder, kustomization, resources)
  return resources
}

/** The same by `kubectl kustomize`. Throws what it says when it refuses. */
export async function renderByKubectl(folder: string): Promise<Resource[]> {
  const maxBuffer = 16 * 1024 * 1024
  const { stdout } = await promisify(execFile)('kubectl', ['kustomize', folder], { maxBuffer })
  return readResources(stdout)
}

/** In an order of their own, since kustomize sorts by kind. */
export function byName(resources: readonly Resource[]): Resource[] {
  const nameOf = ({ kind, metadata }: Resource) => `${kind} ${metadata.name}`
  return resources.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
}

/** Whether there is a kubectl whose kustomize knows components. */
export function hasKubectl(): boolean {
  try {
    const said = execFileSync('kubectl', ['version', '--client'], { encoding: 'utf8' })
    return /Kustomize Version: v[5-9]/.test(said)
  } catch {
    return false
  }
}

async function readKustomization(folder: string): Promise<Kustomization> {
  const text = await readFile(join(folder, 'kustomization.yaml'), 'utf8')
  const kustomization = parse(text) as Kustomization
  const unknown = Object.keys(kustomization).filter((key) => !known.includes(key))
  if (unknown.length > 0) throw new Error(`${folder} uses ${unknown}, which is not known here`)
  return kustomization
}

async function renderPath(path: string): Promise<Resource[]> {
  if ((await stat(path)).isDirectory()) return render(path)
  return readResources(await readFile(path, 'utf8'))
}

/** The resources of each text that was read, since most overlays share most of their files. */
const parsed = new Map<string, readonly Resource[]>()

function readResources(text: string): Resource[] {
  const known =
    parsed.get(text) ?? parseAllDocuments(text).map((document) => document.toJS() as Resource)
  parsed.set(text, known)
  return structuredClone(known) as Resource[]
}

/** What a kustomization does to the resources gathered so far, in the order of kustomize. */
async function finish(folder: string, kustomization: Kustomization, resources: Resource[]) {
  for (const { name, behavior, files, options } of kustomization.configMapGenerator ?? []) {
    const read = files.map(async (file) => [file, await readFile(join(folder, file), 'utf8')])
    const data = Object.fromEntries(await Promise.all(read))
    const replaced = resources.find((one) => one.kind === 'ConfigMap' && one.metadata.name === name)
    if (behavior === 'replace' && replaced !== undefined) replaced.data = data
    else {
      const metadata = { name, ...(options.labels && { labels: options.labels }) }
      resources.push({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data })
    }
  }
  for (const path of kustomization.components ?? []) {
    const component = join(folder, path)
    const inner = await readKustomization(component)
    for (const file of inner.resources ?? []) {
      resources.push(...(await renderPath(join(component, file))))
    }
    await finish(component, inner, resources)
  }
  for (const { target, patch } of kustomization.patches ?? []) {
    const operations = parse(patch) as Operation[]
    for (const resource of resources) {
      const { kind, metadata } = resource
      if (kind !== target.kind || (target.name ?? metadata.name) !== metadata.name) continue
      for (const operation of operations) patchResource(resource, operation)
    }
  }
  if (kustomization.namespace !== undefined) moveTo(kustomization.namespace, resources)
  for (const { name, newName, newTag } of kustomization.images ?? []) {
    for (const container of resources.flatMap(containersOf)) {
      if (container.image.split(':')[0] === name) container.image = `${newName}:${newTag}`
    }
  }
}

/** An operation of RFC 6902. */
interface Operation {
  readonly op: 'add' | 'replace' | 'remove'
  readonly path: string
  readonly value?: unknown
}

/** Patches a resource in place. Throws when the path leads nowhere. */
export function patchResource(resource: Resource, { op, path, value }: Operation): void {
  const keys = path
    .slice(1)
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  const last = keys.pop() ?? ''
  const parent = keys.reduce<unknown>(
    (node, key) => (node as Record<string, unknown> | undefined)?.[key],
    resource,
  )
  if (typeof parent !== 'object' || parent === null) throw new Error(`nothing at ${path}`)
  const node = parent as Record<string, unknown>
  if (op !== 'add' && !(last in node)) throw new Error(`nothing at ${path}`)
  const fresh = structuredClone(value)
  if (Array.isArray(parent) && op === 'add') {
    parent.splice(last === '-' ? parent.length : Number(last), 0, fresh)
  } else if (Array.isArray(parent) && op === 'remove') parent.splice(Number(last), 1)
  else if (op === 'remove') delete node[last]
  else node[last] = fresh
}

function moveTo(namespace: string, resources: readonly Resource[]): void {
  for (const { metadata } of resources) metadata.namespace = namespace
}

/** A pod as a resource describes it. */
export interface PodTemplate {
  readonly metadata: { readonly labels?: Record<string, string> }
  readonly spec: PodSpec
}

export interface PodSpec {
  containers: Container[]
  initContainers?: Container[]
  volumes?: ({ name: string } & Record<string, { name?: string; claimName?: string } | unknown>)[]
  securityContext?: Record<string, unknown>
  serviceAccountName?: string
  automountServiceAccountToken?: boolean
  restartPolicy?: string
  [member: string]: unknown
}

export interface Container {
  name: string
  image: string
  command?: string[]
  args?: string[]
  env?: { name: string; value?: string }[]
  ports?: { name?: string; containerPort: number; hostPort?: number }[]
  volumeMounts?: { name: string; mountPath: string }[]
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> }
  securityContext?: Record<string, unknown> & { capabilities?: Record<string, string[]> }
  [member: string]: unknown
}

interface Workload {
  readonly template?: PodTemplate
  readonly jobTemplate?: { readonly spec?: { readonly template?: PodTemplate } }
}

/** The pod that a CronJob, Job or Deployment makes; undefined for other kinds. */
export function podOf(resource: Resource): PodTemplate | undefined {
  const spec = resource.spec as Workload | undefined
  return spec?.jobTemplate?.spec?.template ?? spec?.template
}

export function containersOf(resource: Resource): Container[] {
  const spec = podOf(resource)?.spec
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]
}
