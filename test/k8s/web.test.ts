import { describe, expect, it } from 'vitest'
import { openPages, smallShop } from '../web/open-pages.ts'
import { writeOverlay } from './overlay.ts'
import { type Container, containersOf, podOf, type Resource, render } from './render.ts'

await using overlay = await writeOverlay({ components: ['web'] })
const resources = (await render(overlay.folder)).filter(
  ({ metadata }) => metadata.name === 'dashkeep-web',
)
const deployment = resources.find(({ kind }) => kind === 'Deployment') as Resource
const [container] = containersOf(deployment) as [Container]

function option(name: string): string {
  const found = container.args?.find((one) => one.startsWith(`--${name}=`))
  return found?.slice(name.length + 3) ?? ''
}

describe('the web pages in a cluster', () => {
  it('give access to a user that the proxy names, and to nobody else', async () => {
    const origin = new URL(option('behind-proxy'))
    const access = { kind: 'proxy', origin, userHeader: option('user-header') } as const
    const pages = await openPages([smallShop()], { access })
    const user = { [option('user-header')]: 'anna@example.com' }
    expect((await pages.send('/', user)).status).toBe(200)
    expect((await pages.send('/')).status).toBe(403)
    expect((await pages.send('/', { ...user, host: 'dashkeep-web:5338' })).status).toBe(421)
  })

  it('answer each probe, which names the address of the pod', async () => {
    const pages = await openPages([smallShop()])
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
      const { path } = (container[probe] as { httpGet: { path: string } }).httpGet
      const answer = await pages.send(path, { host: '10.1.2.3:5338' })
      expect([answer.status, await answer.text()]).toEqual([200, 'ok\n'])
    }
  })

  it('have no token of the service, and no keys that write', () => {
    const secrets = podOf(deployment)?.spec.volumes?.flatMap(
      ({ secret }) => (secret as { secretName?: string } | undefined)?.secretName ?? [],
    )
    expect(secrets).toEqual(['dashkeep-s3-read'])
    expect(container.args).not.toContain('--allow-restore')
  })

  it('are reached by the proxy alone', () => {
    const policy = resources.find(({ kind }) => kind === 'NetworkPolicy')
    expect(policy?.spec).toMatchObject({
      ingress: [
        { from: [{ podSelector: { matchLabels: { 'app.kubernetes.io/name': 'oauth2-proxy' } } }] },
      ],
    })
  })
})
