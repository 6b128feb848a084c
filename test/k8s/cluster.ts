import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { stringify } from 'yaml'
import type { Resource } from './render.ts'

/** What a command of `kubectl` printed. */
export interface Printed {
  readonly stdout: string
  readonly stderr: string
}

/** The credentials of a cluster to test on. Not `KUBECONFIG`, which often names a real cluster. */
export const kubeconfig = process.env.DASHKEEP_TEST_KUBECONFIG

/** Runs `kubectl` on the cluster, with `input` on its standard input. Throws with what it printed when it fails. */
export async function kubectl(args: readonly string[], input = ''): Promise<Printed> {
  const env = { ...process.env, KUBECONFIG: kubeconfig }
  const running = promisify(execFile)('kubectl', args, { env, maxBuffer: 64 * 1024 * 1024 })
  running.child.stdin?.end(input)
  return await running
}

/** Reads resources of the cluster. Returns an empty list when there are none. */
export async function listResources(...args: readonly string[]): Promise<Resource[]> {
  const { stdout } = await kubectl(['get', '--output=json', ...args])
  return (JSON.parse(stdout) as { items: Resource[] }).items
}

/** Whether a node of the cluster starts pods. */
export async function hasReadyNode(): Promise<boolean> {
  const nodes = await listResources('nodes')
  return nodes.some(({ status }) => isTrue(status, 'Ready'))
}

/** Whether a condition of a resource's status is true. */
export function isTrue(status: unknown, type: string): boolean {
  const { conditions = [] } = (status ?? {}) as { conditions?: { type: string; status: string }[] }
  return conditions.some((condition) => condition.type === type && condition.status === 'True')
}

/** A namespace of its own. Disposing removes it with everything in it. */
export interface Namespace extends AsyncDisposable {
  readonly name: string
  /** Runs `kubectl` in this namespace. */
  kubectl(args: readonly string[], input?: string): Promise<Printed>
  /** Applies resources. Throws when the cluster refuses one. */
  apply(...resources: readonly object[]): Promise<void>
  /** Lists resources of a kind. */
  list(...args: readonly string[]): Promise<Resource[]>
}

/** Makes a namespace that allows restricted pods only, as `docs/kubernetes.md` says. */
export async function makeNamespace(): Promise<Namespace> {
  const name = `dashkeep-test-${randomBytes(4).toString('hex')}`
  await kubectl(['create', 'namespace', name])
  const levels = ['enforce', 'warn'].map((mode) => `pod-security.kubernetes.io/${mode}=restricted`)
  await kubectl(['label', 'namespace', name, ...levels])
  const here = [`--namespace=${name}`]
  return {
    name,
    kubectl: (args, input) => kubectl([...here, ...args], input),
    async apply(...resources) {
      const documents = resources.map((resource) => stringify(resource)).join('---\n')
      await kubectl([...here, 'apply', '--filename=-'], documents)
    },
    list: (...args) => listResources(...here, ...args),
    async [Symbol.asyncDispose]() {
      await kubectl(['delete', 'namespace', name, '--wait=false'])
    },
  }
}

/**
 * Lets the cluster accept the kinds of the Prometheus operator. Disposing removes the definitions
 * that were made here. Those that were there before stay as they are.
 */
export async function defineOperatorKinds(kinds: Readonly<Record<string, string>>) {
  const group = 'monitoring.coreos.com'
  const { stdout } = await kubectl(['api-resources', `--api-group=${group}`, '--output=name'])
  const made = Object.entries(kinds)
    .filter(([plural]) => !stdout.includes(`${plural}.${group}`))
    .map(([plural, kind]) => definitionOf(group, plural, kind))
  for (const definition of made) {
    await kubectl(['create', '--filename=-'], stringify(definition))
    const name = `crd/${definition.metadata.name}`
    await kubectl(['wait', name, '--for=condition=Established', '--timeout=60s'])
  }
  return {
    async [Symbol.asyncDispose]() {
      for (const { metadata } of made) await kubectl(['delete', 'crd', metadata.name])
    },
  }
}

function definitionOf(group: string, plural: string, kind: string) {
  const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  }
}

/** Asks each second until there is an answer. Throws after three minutes. */
export async function until<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  for (let second = 0; second < 180; second++) {
    const answer = await ask()
    if (answer !== undefined) return answer
    await wait(1000)
  }
  throw new Error(`waited 180 s for ${what}`)
}
