import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { stringify } from 'yaml'
import { k8sFolder } from './render.ts'

/** An overlay in a folder of its own. Disposing removes it. */
export interface Overlay extends AsyncDisposable {
  readonly folder: string
}

/** Components by the order in which an overlay names them: later ones change what earlier ones add. */
export const runs = ['many-accounts', 'worker'] as const
export const extras = ['judge', 'weekly', 'prune', 'copy', 'exporter', 'monitoring', 'web'] as const
export const credentials = ['aws', 'aws-pod-identity'] as const
export const places = ['folder', 'node-local-dns', 'openshift'] as const

/** Overlays that the documentation allows: one way to run, one place of the archive, any extras. */
export function combinations(): string[][] {
  const stores = [[], ...credentials.map((one) => [one]), ['folder']]
  const ways = [[], ...runs.map((one) => [one])]
  return ways.flatMap((way) => {
    // The worker prunes by itself, and serves metrics of its own.
    const spared = way.includes('worker') ? ['prune', 'exporter'] : []
    const most = extras.filter((one) => !spared.includes(one))
    return stores.flatMap((store) => [
      [...way, ...store],
      ...most.map((extra) => [...way, ...needsOf(extra, most), extra, ...store]),
      [...way, ...store, 'openshift'],
      [...way, ...most, ...store, 'node-local-dns', 'openshift'],
    ])
  })
}

/** Without a worker, the exporter is all that there is to be scraped. */
function needsOf(extra: string, all: readonly string[]): string[] {
  return extra === 'monitoring' ? all.filter((one) => one === 'exporter') : []
}

/** Members of the kustomization of an overlay. */
interface Members {
  /** What the overlay lies over, as a path within `k8s/`: the base, unless named. */
  readonly base?: string
  /** Names of components. */
  readonly components?: readonly string[]
  /** Resources beside the base. */
  readonly resources?: readonly string[]
  readonly [member: string]: unknown
}

/** Writes an overlay over the base, with `files` beside its kustomization. */
export async function writeOverlay(
  { base = 'base', components = [], resources = [], ...members }: Members,
  files: Readonly<Record<string, string>> = {},
): Promise<Overlay> {
  return writeKustomization((folder) => {
    const k8s = relative(folder, k8sFolder)
    return {
      namespace: 'backups',
      ...members,
      resources: [join(k8s, base), ...resources],
      components: components.map((name) => join(k8s, 'components', name)),
    }
  }, files)
}

/** Writes one kustomization of several overlays, each of which needs a namespace of its own. */
export function joinOverlays(overlays: readonly Overlay[]): Promise<Overlay> {
  return writeKustomization((folder) => ({
    resources: overlays.map((one) => relative(folder, one.folder)),
  }))
}

async function writeKustomization(
  membersIn: (folder: string) => object,
  files: Readonly<Record<string, string>> = {},
): Promise<Overlay> {
  const parent = await mkdtemp(join(tmpdir(), 'dashkeep-overlay-'))
  const folder = join(parent, 'mine')
  await mkdir(folder)
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    ...membersIn(folder),
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  await writeFile(join(folder, 'kustomization.yaml'), stringify(kustomization))
  return { folder, [Symbol.asyncDispose]: () => rm(parent, { recursive: true }) }
}
