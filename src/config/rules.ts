import { pathToFileURL } from 'node:url'
import { archiveName } from './config.ts'
import { isSection, listAt, type Section, valueAt } from './section.ts'
import { describeOverlap, findOverlap } from './store-addresses.ts'

/** A place and its problem. */
type Problem = readonly [place: string, text: string]

/**
 * Finds settings that contradict each other. Takes the document before validation, so that an invalid
 * setting does not hide these problems.
 */
export function findConflicts(document: Section, sourceOf: (place: string) => string): string[] {
  return rules
    .flatMap((rule) => rule(document))
    .map(([place, text]) => `${sourceOf(place)}: ${text}`)
}

const rules: readonly ((document: Section) => readonly Problem[])[] = [
  (document) =>
    findTwice(listAt(document, 'accounts').map((account) => valueAt(account, 'name'))).map(
      ([index, found]) => [`accounts.${index}.name`, `${found} comes twice`],
    ),
  (document) =>
    findTwice(listAt(document, 'copies').map((copy) => valueAt(copy, 'name'))).map(
      ([index, found]) => [`copies.${index}.name`, `${found} comes twice`],
    ),
  (document) =>
    listAt(document, 'copies').flatMap((copy, index) =>
      valueAt(copy, 'name') === archiveName
        ? [[`copies.${index}.name`, `"${archiveName}" is the name of the archive itself`]]
        : [],
    ),
  (document) =>
    findTwice(listAt(document, 'types')).map(([index, found]) => [
      `types.${index}`,
      `${found} comes twice`,
    ]),
  findMissingAddresses,
  findTypeConflicts,
  ({ store }) => findStoreConflicts(store, 'store'),
  (document) =>
    listAt(document, 'copies').flatMap((copy, index) =>
      findStoreConflicts(copy, `copies.${index}`),
    ),
  findOverlaps,
  findEncryptionConflicts,
  (document) =>
    document.git !== undefined &&
    valueAt(document, 'encryption.recipients') !== undefined &&
    valueAt(document, 'encryption.identity') === undefined
      ? [
          [
            'git',
            'needs encryption.identity, because commits contain what snapshots hold encrypted',
          ],
        ]
      : [],
  (document) =>
    valueAt(document, 'schedule.pruneAfter') === true && document.retention === undefined
      ? [['schedule.pruneAfter', 'needs retention, which says what to keep']]
      : [],
]

/** Texts that a list already contains at an earlier index, with their own indexes. */
function findTwice(values: readonly unknown[]): [index: number, found: string][] {
  return values.flatMap((value, index): [number, string][] =>
    typeof value === 'string' && values.indexOf(value) < index
      ? [[index, JSON.stringify(value)]]
      : [],
  )
}

function findMissingAddresses(document: Section): Problem[] {
  if (valueAt(document, 'service.baseUrl') !== undefined) return []
  const accounts = listAt(document, 'accounts').map((account, index) => ({
    account,
    place: `accounts.${index}`,
  }))
  return [...accounts, { account: document.management, place: 'management' }]
    .filter(({ account }) => isSection(account) && account.baseUrl === undefined)
    .map(({ place }) => [
      `${place}.baseUrl`,
      'missing, and neither service.baseUrl nor DASHKEEP_BASE_URL is set',
    ])
}

/** Types whose uncompressed files would have the names of files of the archive format. */
const reservedTypes: readonly unknown[] = ['manifest', 'damaged']

function findTypeConflicts(document: Section): Problem[] {
  const types = listAt(document, 'types')
  const reserved = types.find((one) => reservedTypes.includes(one))
  const problems: Problem[] = []
  if (reserved !== undefined && document.compression === 'none') {
    const text = `${reserved} needs compression: without it, its file would be ${reserved}.json, a name that the archive itself uses`
    problems.push(['types', text])
  }
  for (const [index, account] of listAt(document, 'accounts').entries()) {
    const twice = listAt(account, 'include').find((inclusion) => types.includes(inclusion))
    if (twice === undefined) continue
    problems.push([`accounts.${index}.include`, `${twice} comes twice, also in types`])
  }
  return problems
}

function findStoreConflicts(store: unknown, place: string): Problem[] {
  if (!isSection(store)) return []
  const problems: Problem[] = []
  if (typeof store.url === 'string' && store.url.startsWith('file:')) {
    for (const part of ['lock', 'encryption']) {
      if (store[part] !== undefined) {
        problems.push([`${place}.${part}`, 'only an s3:// store can do this'])
      }
    }
  }
  const keyId = valueAt(store, 'encryption.keyId')
  if (keyId !== undefined && valueAt(store, 'encryption.mode') !== 'sse-kms') {
    problems.push([`${place}.encryption`, 'a keyId belongs to sse-kms'])
  }
  return problems
}

/** Finds copies that are not apart from the archive and from each other. */
function findOverlaps(document: Section): Problem[] {
  const places = [
    { place: 'store.url', what: 'the archive', section: document.store },
    ...listAt(document, 'copies').map((section, index) => {
      return { place: `copies.${index}.url`, what: 'another copy', section }
    }),
  ].flatMap(({ section, ...others }) => {
    const [url, endpoint] = [valueAt(section, 'url'), valueAt(section, 'endpoint')]
    if (typeof url !== 'string') return []
    return [{ ...others, address: { url, ...(typeof endpoint === 'string' && { endpoint }) } }]
  })
  // Git commands such as `git clean` would remove the snapshots in its folder.
  const folder = valueAt(document, 'git.folder')
  if (typeof folder === 'string') {
    places.push({ place: 'git.folder', what: '', address: { url: pathToFileURL(folder).href } })
  }
  return places.flatMap(({ place, address }, index): Problem[] => {
    const problems = places.slice(0, index).flatMap((other): Problem[] => {
      const overlap = findOverlap(address, other.address)
      if (overlap === undefined) return []
      const found = JSON.stringify(address.url)
      return [[place, `${found} ${describeOverlap(overlap)} ${other.what}`]]
    })
    return problems.slice(0, 1)
  })
}

function findEncryptionConflicts({ encryption }: Section): Problem[] {
  if (!isSection(encryption)) return []
  if (Object.keys(encryption).length === 0) {
    return [['encryption', 'expected recipients, passphrase or identity, found none']]
  }
  const isBoth = encryption.recipients !== undefined && encryption.passphrase !== undefined
  return isBoth ? [['encryption', 'recipients and passphrase exclude each other']] : []
}
