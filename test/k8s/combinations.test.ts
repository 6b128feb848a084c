import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  combinations,
  credentials,
  extras,
  joinOverlays,
  type Overlay,
  places,
  runs,
  writeOverlay,
} from './overlay.ts'
import { findProblems } from './relations.ts'
import { byName, hasKubectl, k8sFolder, type Resource, render, renderByKubectl } from './render.ts'

const kubectl = hasKubectl()

/** Every combination, with a namespace of its own for its overlay. */
const cases = combinations().map((names, index) => ({
  title: names.join(', ') || 'none',
  names,
  namespace: `backups-${index}`,
}))

describe('components that go together', () => {
  const made = new AsyncDisposableStack()
  const overlays = new Map<string, Overlay>()
  /** What kubectl makes of them. */
  const byKubectl: Resource[] = []

  beforeAll(async () => {
    for (const { names: components, namespace } of cases) {
      overlays.set(namespace, made.use(await writeOverlay({ components, namespace })))
    }
    if (!kubectl) return
    // A few in one process take half the time of a process for each; all in one would take longer.
    const left = [...overlays.values()]
    while (left.length > 0) {
      await using some = await joinOverlays(left.splice(0, 8))
      byKubectl.push(...(await renderByKubectl(some.folder)))
    }
  }, 60_000)
  afterAll(() => made.disposeAsync())

  it('are all there are', async () => {
    const known = [...runs, ...extras, ...credentials, ...places]
    expect(known.toSorted()).toEqual((await readdir(join(k8sFolder, 'components'))).toSorted())
  })

  it.each(cases)(
    'render without problems, as kubectl does: $title',
    async ({ names, namespace }) => {
      const resources = await render(overlays.get(namespace)?.folder ?? '')
      const options = { anyUser: names.includes('openshift') }
      expect(await findProblems(resources, options)).toEqual([])
      const namespaceOf = ({ metadata }: Resource) => metadata.namespace
      expect(new Set(resources.map(namespaceOf))).toEqual(new Set([namespace]))
      if (!kubectl) return
      const expected = byKubectl.filter((one) => namespaceOf(one) === namespace)
      expect(byName(expected)).toEqual(byName(resources))
    },
  )

  it.skipIf(!kubectl)('render to nothing outside of their namespaces', () => {
    const known = new Set(cases.map(({ namespace }) => namespace as string | undefined))
    expect(byKubectl.filter(({ metadata }) => !known.has(metadata.namespace))).toEqual([])
  })
})
