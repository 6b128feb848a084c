import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { loadConfig } from '../../src/config/load.ts'
import { configSchema } from '../../src/config/schema.ts'
import { sampleApiToken } from '../../src/sandbox/sample-account.ts'

const folder = fileURLToPath(new URL('../../config/', import.meta.url))

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

  it('holds a compose file whose worker can be configured', async () => {
    const text = await readFile(`${folder}compose.yaml`, 'utf8')
    const { services } = parse(text, { merge: true }) as {
      services: Record<
        string,
        { environment?: Record<string, string>; command?: string[]; ports?: string[] }
      >
    }
    const { environment = {}, command, ports } = services.worker ?? {}
    const { accounts, store, schedule } = await loadConfig(environment, {}, ['accounts', 'store'])
    expect(command).toEqual(['worker'])
    expect(accounts).toMatchObject([{ baseUrl: 'http://service:8080' }])
    expect(environment.DASHKEEP_API_TOKEN).toBe(sampleApiToken)
    expect(store).toMatchObject({ url: 's3://backups/dashkeep', endpoint: 'http://storage:7480' })
    expect(schedule?.cron).toBe('* * * * *')
    const dockerfile = await readFile(`${folder}../Dockerfile`, 'utf8')
    const [, port] = /DASHKEEP_LISTEN=0\.0\.0\.0:(\d+)/.exec(dockerfile) ?? []
    expect(ports).toEqual([`127.0.0.1:${port}:${port}`])
  })
})
