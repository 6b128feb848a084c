import { describe, expect, it } from 'vitest'
import { accountsOf } from './run-dashkeep.ts'
import { shopId, startTrial, type Trial } from './trial.ts'

/** A search in its JSON text, with members that are text already. */
function search(id: string, members: Record<string, string> = {}): string {
  const more = Object.entries(members).map(([name, text]) => `,${JSON.stringify(name)}:${text}`)
  return `{"_id":${JSON.stringify(`search:${id}`)},"_source":{"type":"search","search":{"title":"t"${more.join('')}}}}`
}

/** Backs up these searches and returns what was stored of them. */
async function roundTrip(trial: Trial, document: Uint8Array): Promise<Buffer> {
  trial.sandbox.setObjects(shopId, 'search', document)
  const { exitCode, stdout } = await trial.run(['backup', '--accept-fall'])
  expect(exitCode, stdout).toBe(0)
  expect((await trial.run(['verify'])).exitCode).toBe(0)
  return trial.content('search', (await trial.snapshots()).at(-1))
}

function documentOf(hits: readonly string[]): Buffer {
  return Buffer.from(`{"kibanaVersion":"7.10.2","hits":[${hits.join(',')}]}`)
}

const odd: [what: string, hits: string[]][] = [
  [
    'numbers beyond 2^53, and numbers written in unusual ways',
    [
      search('n', {
        big: '9007199254740993',
        huge: '123456789012345678901234567890',
        tiny: '1e-400',
        exponent: '1E+2',
        zero: '-0',
        fraction: '1.10',
        many: '[0.1000000000000000055511151231257827,1e999]',
      }),
    ],
  ],
  [
    'lone surrogate escapes',
    [search('s', { low: '"\\udc00"', high: '"\\ud800"', swapped: '"\\uDE00\\uD83D"' })],
  ],
  [
    'escapes of control characters, slashes and plain letters',
    [search('e', { text: '"\\u0000\\u001F\\u007f\\b\\f\\n\\r\\t\\/\\u0041"' })],
  ],
  [
    'line separators and other white space',
    [search('u', { text: '"\u2028\u2029\u0085\ufeff\u00a0"' })],
  ],
  [
    'ids with slashes, colons, quotes and more',
    [
      'a/b',
      '../../etc/passwd',
      'a:b:c',
      'say "hi"',
      'who?',
      'a&b=c',
      'back\\slash',
      '%2e%2e',
      '*',
    ].map((id) => search(id)),
  ],
  [
    'ids in emoji and other scripts',
    ['🙂', '👩‍👩‍👧', 'Übersicht', '概要', 'é', 'é'].map((id) => search(id)),
  ],
  ['an empty id', [search('')]],
  [
    'ids that are equal but for case or form',
    ['id', 'ID', 'Id', 'é', 'e\u0301'].map((id) => search(id)),
  ],
  ['members that come twice', [search('d', { a: '1,"a":2' })]],
  [
    'members of names that mean something to JavaScript',
    [search('p', { ['__proto__']: '1', toString: '{}' })],
  ],
  ['space of every kind between the tokens', [`{ "_id"\t:\r\n"search:w" , "_source" : { } }`]],
  [
    'members that no specification names',
    [
      '{"_id":"search:x","_source":{"type":"search","search":{"title":"x"},"references":[{}],"migrationVersion":null},"sort":[1]}',
    ],
  ],
  ['nested text that is no JSON', [search('v', { visState: '"{not json"', panelsJSON: '""' })]],
]

describe('what is stored is what was received, byte for byte, with', () => {
  it.each(odd)('%s', async (_what, hits) => {
    await using trial = await startTrial()
    const document = documentOf(hits)
    expect(await roundTrip(trial, document)).toEqual(document)
  })

  it('one hit of 10 MB', async () => {
    await using trial = await startTrial()
    const filling = 'All work and no play makes Jack a dull boy. '
    const text = JSON.stringify(filling.repeat(Math.ceil(10_000_000 / filling.length)))
    const document = documentOf([search('before'), search('large', { text }), search('after')])
    expect(document.length).toBeGreaterThan(10_000_000)
    expect((await roundTrip(trial, document)).equals(document)).toBe(true)
  })

  it('objects nested five hundred deep', async () => {
    await using trial = await startTrial()
    const document = documentOf([
      search('deep', { deep: `${'{"a":['.repeat(250)}1${']}'.repeat(250)}` }),
    ])
    expect(await roundTrip(trial, document)).toEqual(document)
  })

  it('bytes that are not UTF-8', async () => {
    await using trial = await startTrial()
    const [head = '', tail = ''] = documentOf([search('latin', { text: '"@"' })])
      .toString()
      .split('@')
    const document = Buffer.concat([
      Buffer.from(head),
      Buffer.from([0xe9, 0xff]),
      Buffer.from(tail),
    ])
    expect(await roundTrip(trial, document)).toEqual(document)
  })

  it('no newline, or several, at its end', async () => {
    await using trial = await startTrial()
    for (const ending of ['', '\n', '\r\n \n']) {
      const document = Buffer.concat([
        documentOf([search(ending.length.toString())]),
        Buffer.from(ending),
      ])
      expect(await roundTrip(trial, document)).toEqual(document)
    }
  })
})

describe('the smallest change is a change', () => {
  const pairs: [what: string, before: string, after: string][] = [
    ['the last digit of 9007199254740993', '9007199254740993', '9007199254740992'],
    ['a digit far behind the point', '0.30000000000000004', '0.30000000000000005'],
    ['another lone surrogate', '"\\ud800"', '"\\ud801"'],
    ['a composed letter instead of two', '"\u00e9"', '"e\u0301"'],
    ['a space within a text', '"a b"', '"a  b"'],
    ['the order in a list', '[1,2]', '[2,1]'],
  ]

  it.each(pairs)('%s', async (_what, before, after) => {
    await using trial = await startTrial()
    const results: unknown[] = []
    for (const number of [before, before, after]) {
      trial.sandbox.setObjects(shopId, 'search', documentOf([search('n', { number })]))
      const { stdout } = await trial.run(['backup', '--json'])
      const [account] = accountsOf(stdout)
      results.push(account?.result)
      if (account?.result === 'changed') {
        expect(account.changes).toContainEqual({
          type: 'search',
          added: [],
          removed: [],
          changed: [{ id: 'search:n', title: 't' }],
        })
      }
    }
    expect(results).toEqual(['first', 'unchanged', 'changed'])
  })

  it('an id in other case is another object', async () => {
    await using trial = await startTrial()
    trial.sandbox.setObjects(shopId, 'search', documentOf([search('id'), search('other')]))
    await trial.run(['backup'])
    trial.sandbox.setObjects(shopId, 'search', documentOf([search('ID'), search('other')]))
    const { stdout } = await trial.run(['backup'])
    expect(stdout).toContain('\n  + search:ID  t\n  - search:id  t\n')
  })
})

describe('exports in the forms of older and newer services', () => {
  it.each(['specified', 'newer', 'oldest'] as const)(
    'are stored, listed and verified: %s',
    async (form) => {
      const account = { accountId: 7, accountName: 'A', apiTokens: ['t'] }
      const objects = { generated: { seed: 3, count: 20, form } }
      await using trial = await startTrial({ accounts: [{ ...account, objects }], shuffle: 1 })
      const token = { DASHKEEP_API_TOKEN: 't' }
      const results: unknown[] = []
      for (let turn = 0; turn < 2; turn += 1) {
        const { stdout } = await trial.run(['backup', '--json'], token)
        results.push(...accountsOf(stdout).map(({ result }) => result))
      }
      expect(results).toEqual(['first', 'unchanged'])
      expect((await trial.run(['verify'])).exitCode).toBe(0)
    },
  )
})
