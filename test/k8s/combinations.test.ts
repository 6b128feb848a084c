import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { combinations, credentials, extras, places, runs, writeOverlay } from './overlay.ts'
import { findProblems } from './relations.ts'
import { byName, hasKubectl, k8sFolder, render, renderByKubectl } from './render.ts'

const kubectl = hasKubectl()

describe('components that go together', () => {
  it('are all there are', async () => {
    const known = [...runs, ...extras, ...credentials, ...places]
    expect(known.toSorted()).toEqual((await readdir(join(k8sFolder, 'components'))).toSorted())
  })

  it.each(combinations().map((names) => ({ title: names.join(', ') || 'none', names })))(
    'render without problems, as kubectl does: $title',
    async ({ names }) => {
      await using overlay = await writeOverlay({ components: names })
      const resources = await render(overlay.folder)
      const options = { anyUser: names.includes('openshift') }
      expect(await findProblems(resources, options)).toEqual([])
      expect(new Set(resources.map(({ metadata }) => metadata.namespace))).toEqual(
        new Set(['backups']),
      )
      if (kubectl) expect(byName(await renderByKubectl(overlay.folder))).toEqual(byName(resources))
    },
  )
})
