import { writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import type { AccountSeed } from '../src/sandbox/options.ts'
import {
  accountsCases,
  archiveCases,
  type Case,
  datesCases,
  jobCases,
  startCases,
  streamCases,
} from './cases.ts'
import { fillArchive } from './many-snapshots.ts'
import type { Place, Spot } from './place.ts'
import { firstAccountId, makeAccounts, tokenOf } from './service.ts'

/** Cases that are measured in turn, with the same service and the same place. */
export interface Group {
  /** Value of `--only`. */
  readonly kind: 'stream' | 'job' | 'accounts' | 'archive' | 'start' | 'dates'
  readonly title: string
  readonly place: Place
  /** Accounts of the service. */
  readonly accounts: readonly AccountSeed[]
  /** All other cases are compared with the first. */
  readonly cases: readonly Case[]
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Prepares one place for all runs. Without it, each run starts with an empty place. */
  readonly fill?: (spot: Spot) => Promise<void>
  /** Runs the commands on one processor core and the service on the others. */
  readonly onOneCore?: boolean
  /** Replaces `--runs`. */
  readonly runs?: number
}

/** Amount of data to measure. */
export interface Sizes {
  /** Sizes of one export, in MiB. */
  readonly streamMb: readonly number[]
  readonly accounts: number
  /** Accounts for the shell script: a few, since it is slow. */
  readonly scriptAccounts: number
  readonly snapshots: number
}

const mb = 1024 ** 2

/** Makes all groups for these places. */
export async function makeGroups(
  places: readonly Place[],
  { sizes, scratch, corpus }: { sizes: Sizes; scratch: string; corpus: string | undefined },
): Promise<Group[]> {
  const config = await writeConfig(scratch, sizes.accounts)
  const groups = places.flatMap((place): Group[] => [
    ...sizes.streamMb.map((size) => streamGroup(place, size)),
    {
      kind: 'job',
      title: `The whole job for one account of 300 objects, ${place.name}`,
      place,
      accounts: makeAccounts(1, { count: 100 }),
      cases: jobCases(place),
    },
    {
      kind: 'accounts',
      title: `Accounts of 30 objects each, ${place.name}`,
      place,
      accounts: makeAccounts(sizes.accounts, { count: 10 }),
      cases: accountsCases(place, sizes.accounts, sizes.scriptAccounts),
      // The file names the tokens. dashkeep refuses variables that the file does not use.
      env: {
        ...tokens(sizes.accounts),
        DASHKEEP_CONFIG: config,
        DASHKEEP_API_TOKEN: undefined,
        DASHKEEP_ACCOUNT_ID: undefined,
      },
    },
    {
      kind: 'archive',
      title: `An archive of ${sizes.snapshots} snapshots, ${place.name}`,
      place,
      accounts: [],
      cases: archiveCases(),
      fill: (spot) => fillArchive(spot, sizes.snapshots),
    },
  ])
  const [folder] = places
  if (folder === undefined) return groups
  const [account] = makeAccounts(1, { count: 1 })
  const accounts = account ? [account] : []
  groups.push({ kind: 'start', title: 'Start', place: folder, accounts, cases: startCases() })
  if (corpus !== undefined) {
    groups.push({
      kind: 'dates',
      title: 'Real objects of 175 dates, folder',
      place: folder,
      accounts,
      cases: datesCases(),
      env: { HISTORY: join(corpus, 'beats-history.tar.zst') },
      runs: 1,
    })
  }
  return groups
}

/** Measures a folder on one core, and S3 on all cores, since the server needs them too. */
function streamGroup(place: Place, size: number): Group {
  const onOneCore = place.name === 'folder' && process.platform === 'linux' && cpus().length > 1
  return {
    kind: 'stream',
    title: `One export of ${size} MB, ${place.name}${onOneCore ? ', on one core' : ''}`,
    place,
    accounts: makeAccounts(1, { bytes: { search: size * mb } }),
    cases: streamCases(place),
    env: { DASHKEEP_TYPES: 'search' },
    onOneCore,
  }
}

async function writeConfig(folder: string, accounts: number): Promise<string> {
  const path = join(folder, 'dashkeep.yaml')
  const numbers = Array.from({ length: accounts }, (_, number) => number)
  const config = {
    accounts: numbers.map((number) => ({
      name: `account-${number + 1}`,
      accountId: firstAccountId + number,
      token: { env: `TOKEN_${number + 1}` },
    })),
  }
  await writeFile(path, stringify(config))
  return path
}

function tokens(accounts: number): Record<string, string> {
  const numbers = Array.from({ length: accounts }, (_, number) => number)
  const named = numbers.map((number) => [`TOKEN_${number + 1}`, tokenOf(firstAccountId + number)])
  return Object.fromEntries(named)
}
