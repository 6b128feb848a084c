import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { configSchema, loadConfig } from '../src/config.ts'

const folder = fileURLToPath(new URL('../config/', import.meta.url))

describe('what is shipped in config/', () => {
  it('holds the schema that `config schema` prints', async () => {
    const shipped = JSON.parse(await readFile(`${folder}dashkeep.schema.json`, 'utf8'))
    expect(shipped).toEqual(JSON.parse(JSON.stringify(configSchema())))
  })

  it('holds an example that can be used', async () => {
    const path = `${folder}dashkeep.example.yaml`
    const { accounts, store } = await loadConfig({}, { config: path }, ['accounts', 'store'])
    expect(accounts.map(({ name }) => name)).toEqual(['production', 'staging', 'production-eu'])
    expect(store).toEqual({ url: 's3://backups/dashkeep', region: 'eu-central-1' })
  })
})
