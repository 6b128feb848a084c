import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fences } from './blocks.ts'
import type { Run, Setting } from './examples.ts'
import type { World } from './world.ts'

/** The examples of the page about promotion, with the first map of that page. */
export const promotionExamples: Readonly<Record<string, Run>> = {
  'dashkeep restore --account production --object Payments --to-service --into-account team-a --map promotion.yaml --dry-run':
    {
      set: setPromotion,
      says: [
        /^ {2}\+ dashboard:[\da-f-]{36} {2}\[Production\] Payments\n {6}from dashboard:payments$/m,
        /^restored 4 of 4 objects, confirmed by a fresh export/m,
      ],
    },

  "dashkeep restore --account production --to-service --to-accounts 'team-*' --map promotion.yaml --dry-run":
    {
      set: setPromotion,
      says: [/^team-a +planned /m, /^team-a +promoted /m],
    },
}

async function setPromotion({ account, trial, folder }: World): Promise<Setting> {
  const [map] = (await fences()).filter(
    ({ place, language }) => place.startsWith('docs/promotion.md') && language === 'yaml',
  )
  await writeFile(join(folder, 'promotion.yaml'), map?.text ?? '')
  const config = await trial.write('promotion-config.yaml', {
    service: { baseUrl: account.DASHKEEP_BASE_URL, pathPrefix: '/v1' },
    store: { url: account.DASHKEEP_STORE },
    accounts: [
      { name: 'production', accountId: 100001, token: { env: 'PRODUCTION_TOKEN' } },
      { name: 'team-a', accountId: 100011, token: { env: 'TEAM_A_TOKEN' } },
    ],
  })
  const tokens = { PRODUCTION_TOKEN: `${account.DASHKEEP_API_TOKEN}`, TEAM_A_TOKEN: 'team-a-token' }
  return { folder, env: { ...tokens, DASHKEEP_CONFIG: config } }
}
