/** Checks that the documentation describes every setting, variable and verb, and no others. */

import { expect, it } from 'vitest'
import { createProgram } from '../../src/cli/program.ts'
import { configSchema } from '../../src/config/schema.ts'
import { variableNames } from '../../src/config/variables.ts'
import { readPage } from './blocks.ts'

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>> | undefined
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
}

const configuration = await readPage('docs/configuration.md')
const readme = await readPage('README.md')

/** The first column of a section's table. */
function cellsIn(page: string, section: string): string[] {
  const from = page.indexOf(`\n## ${section}\n`)
  const text = page.slice(from, page.indexOf('\n## ', from + 1))
  return [...text.matchAll(/^\| (`.*?`) \|/gm)].map(([, cell = '']) => cell)
}

/** The names in the first column of a section's table, such as `store.url` for `.url`. */
function namesIn(section: string): string[] {
  return cellsIn(configuration, section).flatMap((cell) => {
    const [first = '', ...others] = [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
    const parent = first.slice(0, first.lastIndexOf('.'))
    return [first, ...others.map((name) => (name.startsWith('.') ? parent + name : name))]
  })
}

/** The paths of all settings; a secret is one setting, wherever it comes from. */
function settingsOf({ properties, items, anyOf, oneOf }: Schema, path: string): string[] {
  if (items?.properties || items?.oneOf) return settingsOf(items, `${path}[]`)
  const forms = [...(anyOf ?? []), ...(oneOf ?? [])]
  const isSecret = forms.some((form) => form.properties?.env !== undefined)
  const members = isSecret ? [] : [{ properties }, ...forms].flatMap((one) => membersOf(one, path))
  return members.length === 0 ? [path] : members
}

function membersOf({ properties = {} }: Schema, path: string): string[] {
  const prefix = path === '' ? '' : `${path}.`
  return Object.entries(properties).flatMap(([name, one]) => settingsOf(one, prefix + name))
}

it('describes every setting of the configuration file, and no other', () => {
  const settings = new Set(settingsOf(configSchema(), ''))
  expect(new Set(namesIn('The configuration file'))).toEqual(settings)
})

it('describes every variable, and no other', () => {
  const described = namesIn('Environment variables').filter((name) => name.startsWith('DASHKEEP_'))
  const known = variableNames.map((name) => `DASHKEEP_${name}`)
  expect(described.toSorted()).toEqual(known.toSorted())
})

it('describes every verb in the README, and no other', () => {
  // Such as `accounts list`, `create` for two verbs of a group.
  const described = cellsIn(readme, 'Verbs').flatMap((cell) => {
    const words = [...cell.matchAll(/`([a-z -]+?)(?= [[<]| bash|`)/g)].map(([, word = '']) => word)
    const [group = '', first] = words[0]?.split(' ') ?? []
    return words.map((word, at) => (first && at > 0 ? `${group} ${word}` : word))
  })
  const { stdout, stderr } = process
  const program = createProgram({ stdout, stderr, env: {} } as never, () => {})
  const verbs = program.commands.flatMap((verb) =>
    verb.commands.length === 0
      ? [verb.name()]
      : verb.commands.map((one) => `${verb.name()} ${one.name()}`),
  )
  expect(described.toSorted()).toEqual(verbs.filter((verb) => verb !== 'help').toSorted())
})
