import { describe, expect, it } from 'vitest'
import { parseDocument } from '../../src/accounts/document.ts'
import { diffSettings, settingsOf } from '../../src/accounts/settings.ts'
import { subAccount } from './scripted-service.ts'

/** An entry of the list of a deployed service. */
const deployed = subAccount(12, 2.5, {
  sharingObjectsAccounts: [{ accountId: 7, accountName: 'Seven' }, { accountId: 5 }],
  isFlexible: false,
  reservedDailyGB: null,
  softLimitGB: 4,
  isOwner: false,
})

const all = {
  accountName: 'Account 12',
  maxDailyGB: 2.5,
  retentionDays: 7,
  searchable: true,
  accessible: false,
  sharingObjectsAccounts: [7, 5],
  docSizeSetting: true,
  utilizationSettings: { frequencyMinutes: 5, utilizationEnabled: true },
}

describe('the settings of a listed account', () => {
  it('are every member of a replace, with ids for accounts, and writable members that were listed', () => {
    const further = { isFlexible: false, reservedDailyGB: null, softLimitGB: 4 }
    expect(settingsOf(deployed)).toEqual({ ...all, ...further })
  })

  it('differ in what differs, and not in the order of accounts', () => {
    const before = settingsOf(deployed)
    const after = {
      ...before,
      sharingObjectsAccounts: [5, 7],
      maxDailyGB: 3,
      utilizationSettings: { frequencyMinutes: null, utilizationEnabled: true },
    }
    expect(diffSettings(before, after)).toEqual([
      { member: 'maxDailyGB', before: 2.5, after: 3 },
      { member: 'utilizationSettings.frequencyMinutes', before: 5, after: null },
    ])
  })
})

describe('a document', () => {
  const parse = (document: object) => parseDocument(JSON.stringify(document), deployed)

  it('may be every setting, or an entry of the list', () => {
    expect(parse(all)).toEqual(all)
    expect(parse(deployed)).toEqual(settingsOf(deployed))
  })

  it.each(Object.keys(all))('is refused without %s', (member) => {
    expect(() => parse({ ...all, [member]: undefined })).toThrow(`\n  - ${member}: missing`)
  })

  it.each([
    ['a misspelt member', { serchable: true }, 'serchable: unknown setting'],
    ['an account of its own', { accountId: 13 }, 'accountId: expected 12, found another account'],
    [
      'no retention',
      { retentionDays: 0 },
      'retentionDays: expected a whole number of days, at least 1, found 0',
    ],
    [
      'a fraction of a day',
      { retentionDays: 1.5 },
      'retentionDays: expected a whole number of days, at least 1, found 1.5',
    ],
    [
      'less than nothing',
      { maxDailyGB: -1 },
      'maxDailyGB: expected GB per day, at least 0, found -1',
    ],
    [
      'half a minute',
      { utilizationSettings: { frequencyMinutes: 0.5, utilizationEnabled: true } },
      'frequencyMinutes: expected whole minutes, at least 1, or null, found 0.5',
    ],
    [
      'other accounts by name',
      { sharingObjectsAccounts: ['Seven'] },
      'sharingObjectsAccounts.0: expected the id of an account, found "Seven"',
    ],
    [
      'a boolean as a text',
      { searchable: 'false' },
      'searchable: expected true or false, found "false"',
    ],
    ['a name that the service refuses', { accountName: 'a/b' }, 'accountName: expected letters'],
  ])('is refused with %s', (_what, changes, problem) => {
    expect(() => parse({ ...all, ...changes })).toThrow(problem)
  })

  it('is refused when it is no object', () => {
    expect(() => parseDocument('[]', deployed)).toThrow('expected one JSON object, found []')
  })

  it('is refused when it is no JSON', () => {
    expect(() => parseDocument('{', deployed)).toThrow('it is not JSON')
  })
})
