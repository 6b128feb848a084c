/**
 * Runs every block of commands in the documentation as people would. What is replaced in a block, such
 * as an address or a token, stands in its example.
 */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { containersWanted } from '../container/places.ts'
import { leaveOut } from '../left-out.ts'
import { type Block, commandBlocks, replaceAll } from './blocks.ts'
import { examples, type Run } from './examples.ts'
import { isInstalled, runShell } from './shell.ts'
import { makeWorld, type World } from './world.ts'

const blocks = await commandBlocks()
const isThere = (need: string) => (need === 'docker' ? containersWanted : isInstalled(need))
const absent = new Set(
  Object.values(examples)
    .flatMap((example) => (typeof example === 'string' ? [] : (example.needs ?? [])))
    .filter((need) => !isThere(need)),
)
if (absent.size > 0)
  leaveOut(
    `what needs ${[...absent].join(', ')} of the commands in the documentation`,
    'by installing these; Docker with DASHKEEP_TEST_CONTAINERS=1',
  )

it('each block of commands in the documentation has one example', () => {
  const begins = blocks.map((block) => block.begins)
  expect(begins.toSorted()).toEqual(Object.keys(examples).toSorted())
})

describe('the documentation', () => {
  let world: World
  beforeAll(async () => {
    world = await makeWorld()
  })
  afterAll(() => world[Symbol.asyncDispose]())

  for (const block of blocks) {
    const example = examples[block.begins]
    if (example === undefined || typeof example === 'string') continue
    const { needs = [] } = example
    const timeout = needs.includes('docker') ? 600_000 : 60_000
    it.skipIf(needs.some((need) => absent.has(need)))(
      `has commands that work: ${block.begins}`,
      { timeout },
      ({ signal }) => runBlock(block, example, { world, signal }),
    )
  }
})

async function runBlock(
  { place, text }: Block,
  { set, eachLine, until, exitCode: expected = 0, says }: Run,
  { world, signal }: { world: World; signal: AbortSignal },
): Promise<void> {
  const { replace = {}, env = {}, folder = world.folder, meanwhile } = (await set?.(world)) ?? {}
  const commands = replaceAll(text, replace)
  for (const script of eachLine ? commands.split('\n') : [commands]) {
    const options = { env: { ...world.shell, ...env }, folder, signal, until, meanwhile }
    const { exitCode, output } = await runShell(script, options)
    expect(exitCode, `${place}\n${output}`).toBe(expected)
    for (const pattern of says) expect(output, place).toMatch(pattern)
  }
}
