import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { findProblems as findProblemsOfConfig } from '../../src/config/load.ts'
import { leaveOut } from '../left-out.ts'
import { findProblems } from './relations.ts'
import {
  byName,
  containersOf,
  hasKubectl,
  k8sFolder,
  podOf,
  type Resource,
  render,
  renderByKubectl,
} from './render.ts'
import { findSchemaProblems } from './schema.ts'

const overlays = [
  'base',
  ...(await readdir(join(k8sFolder, 'overlays'))).map((n) => `overlays/${n}`),
]
const kubectl = hasKubectl()

if (!kubectl) leaveOut('kubectl kustomize over k8s/', 'with a kubectl of 1.27 or newer')

describe('what k8s/ gives a cluster', () => {
  it('is there in every form that the documentation names', () => {
    const names = ['many-accounts', 'worker', 'folder', 'aws', 'weekly', 'copy', 'production']
    expect(overlays.toSorted()).toEqual(['base', ...names.map((n) => `overlays/${n}`)].toSorted())
  })

  it.each(overlays)('is right in %s', async (overlay) => {
    expect(await findProblems(await render(join(k8sFolder, overlay)))).toEqual([])
  })

  it('keeps the volume of an archive out of all overlays', async () => {
    const [claim, ...others] = await render(join(k8sFolder, 'volume'))
    expect(claim).toMatchObject({
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'dashkeep-archive' },
    })
    expect(others).toEqual([])
    expect(findSchemaProblems(claim as Resource)).toEqual([])
  })

  it('copies to a store that the configuration names, and needs no tokens for it', async () => {
    const resources = await render(join(k8sFolder, 'overlays/copy'))
    const named = (kind: string, name: string) =>
      resources.find((one) => one.kind === kind && one.metadata.name === name) as Resource
    const { data } = named('ConfigMap', 'dashkeep') as unknown as { data: Record<string, string> }
    const config = parse(data['dashkeep.yaml'] ?? '') as { copies: { name: string }[] }
    expect((await findProblemsOfConfig(config, (place) => place)).problems).toEqual([])
    const job = named('CronJob', 'dashkeep-copy')
    expect(containersOf(job).map(({ args }) => args)).toEqual([
      ['copy', `--to=${config.copies[0]?.name}`],
    ])
    expect(JSON.stringify(job)).not.toContain('dashkeep-tokens')
  })

  it('runs all pods with that volume on one node', async () => {
    const pods = (await render(join(k8sFolder, 'overlays/folder'))).flatMap(
      (one) => podOf(one)?.spec ?? [],
    )
    expect(pods.length).toBeGreaterThan(1)
    const rule = { topologyKey: 'kubernetes.io/hostname' }
    for (const { affinity } of pods) {
      expect(affinity).toMatchObject({
        podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [rule] },
      })
    }
  })

  it.skipIf(!kubectl).each(overlays)('is what kubectl makes of %s', async (overlay) => {
    const folder = join(k8sFolder, overlay)
    expect(byName(await render(folder))).toEqual(byName(await renderByKubectl(folder)))
  })
})
