import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { findProblems as findConfigProblems } from '../../src/config/load.ts'
import { writeOverlay } from './overlay.ts'
import { findProblems } from './relations.ts'
import { byName, hasKubectl, k8sFolder, type Resource, render, renderByKubectl } from './render.ts'

const page = await readFile(join(k8sFolder, '../docs/kubernetes.md'), 'utf8')
const monitoring = await readFile(join(k8sFolder, '../docs/monitoring.md'), 'utf8')
const blocks = [...`${page}\n${monitoring}`.matchAll(/^```yaml\n(.*?)\n```$/gms)].map(
  ([, text = '']) => text,
)
const overlays = blocks.filter((text) => /^(patches|kind|resources):/m.test(text))
const configurations = blocks.filter((text) => !overlays.includes(text))

/** The text of a section of the page. */
function section(title: string): string {
  const from = page.indexOf(`\n## ${title}\n`)
  return page.slice(from, page.indexOf('\n## ', from + 1))
}

function idOf({ kind, metadata }: Resource): string {
  return `${kind.toLowerCase()}/${metadata.name}`
}

/** The resources that `kubectl delete` in a text names: `kind,kind name name` or `kind/name kind/name`. */
function deletedBy(text: string): string[] {
  const [, named = ''] = / delete ([^`]+)`/.exec(text) ?? []
  const [kinds = '', ...names] = named.split(' ')
  if (kinds.includes('/')) return [kinds, ...names]
  return names.flatMap((name) => kinds.split(',').map((kind) => `${kind}/${name}`))
}

describe('docs/kubernetes.md and docs/monitoring.md', () => {
  it('names all components, and nothing that is not one', async () => {
    const [, table = ''] = /^\| component .*\n((?:\|.*\n)+)/m.exec(section('Components')) ?? []
    const rows = [...table.matchAll(/^\| `([\w-]+)`/gm)].map(([, name]) => name)
    expect(rows.toSorted()).toEqual((await readdir(join(k8sFolder, 'components'))).toSorted())
  })

  it('says how to delete what each component has added', async () => {
    await using base = await writeOverlay({})
    const kept = (await render(base.folder)).map(idOf)
    const [, table = ''] =
      /^\| removed component .*\n((?:\|.*\n)+)/m.exec(section('Components')) ?? []
    for (const component of await readdir(join(k8sFolder, 'components'))) {
      await using overlay = await writeOverlay({ components: [component] })
      const added = (await render(overlay.folder)).map(idOf).filter((id) => !kept.includes(id))
      const row = table.split('\n').find((line) => line.includes(`\`${component}\``)) ?? ''
      expect(deletedBy(row).toSorted(), component).toEqual(added.toSorted())
    }
  })

  it('has examples of dashkeep.yaml that are valid', async () => {
    expect(configurations).toHaveLength(2)
    for (const text of configurations) {
      expect((await findConfigProblems(parse(text), (place) => place)).problems).toEqual([])
    }
  })

  it.each(overlays.map((text) => ({ title: /name: ([\w-]+)/.exec(text)?.[1], text })))(
    'has an example that renders without problems: $title',
    async ({ text }) => {
      const example = parse(text) as { patches?: unknown; kind?: string }
      const isResource = example.kind !== undefined
      const run = text.includes('dashkeep-worker') ? 'worker' : 'many-accounts'
      const components = [run, 'judge', 'exporter', 'web', 'aws', 'monitoring']
      await using overlay = await writeOverlay(
        {
          ...(isResource && { resources: ['example.yaml'] }),
          components,
          ...(!isResource && example),
        },
        { 'example.yaml': stringify(example) },
      )
      const resources = await render(overlay.folder)
      expect(await findProblems(resources)).toEqual([])
      await using plain = await writeOverlay({ components })
      expect(resources).not.toEqual(await render(plain.folder))
      if (hasKubectl()) {
        expect(byName(await renderByKubectl(overlay.folder))).toEqual(byName(resources))
      }
    },
  )
})
