import { beforeAll, describe, expect, it } from 'vitest'
import { until } from '../e2e/run-dashkeep.ts'
import { leaveOut } from '../left-out.ts'
import { buildImage, docker } from './image.ts'
import { containersWanted, withContainers } from './places.ts'

if (!containersWanted) leaveOut("the image's own word on its health", withContainers)

const timeout = 300_000
const nowhere = {
  DASHKEEP_BASE_URL: 'http://127.0.0.1:9',
  DASHKEEP_API_TOKEN: 'token',
  DASHKEEP_STORE: 'file:///tmp/archive',
  DASHKEEP_SCHEDULE: '0 0 1 1 *',
}

describe.skipIf(!containersWanted)('the health of the image', { timeout }, () => {
  beforeAll(() => buildImage(), timeout)

  it.each([
    ['a worker that answers', ['worker'], nowhere, 'healthy'],
    [
      'a worker at another port',
      ['worker'],
      { ...nowhere, DASHKEEP_LISTEN: '0.0.0.0:8000' },
      'healthy',
    ],
    [
      'a worker that serves nowhere',
      ['worker'],
      { ...nowhere, DASHKEEP_LISTEN: 'false' },
      'healthy',
    ],
    ['any other verb', ['sandbox', '--path-prefix', '/worker'], {}, 'healthy'],
  ])('of %s', async (_name, args, env, expected) => {
    const variables = Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`])
    const often = ['--health-interval=1s', '--health-start-period=1s']
    const run = ['run', '--detach', ...often, ...variables, 'dashkeep-test', ...args]
    const id = (await docker(...run)).trim()
    const health = async () =>
      (await docker('inspect', '--format', '{{.State.Health.Status}}', id)).trim()
    try {
      await until('its health is known', async () => (await health()) !== 'starting')
      await until(`it is ${expected}`, async () => (await health()) === expected)
      expect(await health()).toBe(expected)
    } finally {
      await docker('rm', '--force', id)
    }
  })
})
