import { PodMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor'
import { PrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule'
import { Deployment } from 'kubernetes-models/apps/v1/Deployment'
import { CronJob } from 'kubernetes-models/batch/v1/CronJob'
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy'
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap'
import { PersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim'
import { Secret } from 'kubernetes-models/v1/Secret'
import { Service } from 'kubernetes-models/v1/Service'
import { ServiceAccount } from 'kubernetes-models/v1/ServiceAccount'
import type { Resource } from './render.ts'

/** A schema of Kubernetes, compiled: `validate` throws what is wrong. */
type Model = (new (data: never) => { validate(): void }) & { apiVersion: string; kind: string }

const models: readonly Model[] = [
  ConfigMap,
  CronJob,
  Deployment,
  NetworkPolicy,
  PersistentVolumeClaim,
  PodMonitor,
  PrometheusRule,
  Secret,
  Service,
  ServiceAccount,
]

interface SchemaError {
  readonly instancePath: string
  readonly message?: string
}

/**
 * What the schema of its kind finds wrong with a resource. The schemas let unknown fields pass, so a
 * field that a schema never looks at counts as unknown.
 */
export function findSchemaProblems(resource: Resource): string[] {
  const { apiVersion, kind } = resource
  const model = models.find((one) => one.apiVersion === apiVersion && one.kind === kind)
  if (model === undefined) return [`${apiVersion} ${kind} is a kind without a schema here`]
  const unread = new Set<string>()
  const watched = watch(new model(resource as never), '', unread)
  const problems: string[] = []
  try {
    watched.validate()
  } catch (error) {
    const { errors = [] } = error as { errors?: readonly SchemaError[] }
    if (errors.length === 0) throw error
    problems.push(...errors.map(({ instancePath, message }) => `${instancePath} ${message}`))
  }
  return [...new Set(problems), ...[...unread].map((path) => `${path} is an unknown field`)]
}

/** A view of a value that notes which of its members nobody has read. */
function watch<T>(value: T, path: string, unread: Set<string>): T {
  if (typeof value !== 'object' || value === null) return value
  for (const key of Object.keys(value)) unread.add(`${path}/${key}`)
  const views = new Map<string, unknown>()
  return new Proxy(value, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key)
      if (typeof key !== 'string' || !Object.hasOwn(target, key)) return member
      const place = `${path}/${key}`
      unread.delete(place)
      if (!views.has(key)) views.set(key, watch(member, place, unread))
      return views.get(key)
    },
  })
}
