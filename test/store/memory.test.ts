import { createMemoryStore } from '../../src/store/memory.ts'
import { describeObjectStore } from '../contract/object-store.ts'

describeObjectStore('memory', async () => ({
  store: createMemoryStore(),
  findLeftovers: async () => [],
  async [Symbol.asyncDispose]() {},
}))
