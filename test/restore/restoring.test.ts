import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { chooseFrom } from '../../src/restore/restoring.ts'
import type { RestoreSource } from '../../src/restore/source.ts'

const objects = 5000
const titleBytes = 4000

const source: RestoreSource = {
  label: 'a test',
  account: undefined,
  exports: [{ type: 'search', kibanaVersion: '7', objects }],
  async *readHits() {
    for (let number = 0; number < objects; number += 1) {
      const search = { title: `${number} `.padEnd(titleBytes, 'x') }
      const hit = { _id: `search:${number}`, _source: { type: 'search', search } }
      yield Buffer.from(JSON.stringify(hit))
    }
  },
}

it('keeps only the chosen objects in memory', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  const before = process.memoryUsage().heapUsed
  const chosen = await chooseFrom(source, undefined, { names: ['search:7'], withNeeds: true })
  // Polls: a busy machine frees collected memory a little later.
  await expect
    .poll(() => {
      collect()
      return process.memoryUsage().heapUsed - before
    })
    .toBeLessThan((objects * titleBytes) / 4)
  expect(chosen.selection.objects.map(({ id }) => id)).toEqual(['search:7'])
})
