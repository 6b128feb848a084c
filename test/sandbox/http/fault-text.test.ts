import { describe, expect, it } from 'vitest'
import { DashkeepError } from '../../../src/errors.ts'
import { parseFault } from '../../../src/sandbox/http/fault-text.ts'

describe('the short form of faults', () => {
  it.each([
    [
      'export:dashboard status=503 times=2',
      { operation: 'export', type: 'dashboard', status: 503, times: 2 },
    ],
    ['* cut at-byte=0', { cut: true, atByte: 0 }],
    [
      '  whoami\trefused  account=7 after=1 ',
      { operation: 'whoami', refused: true, account: 7, after: 1 },
    ],
    ['* body="Too \\"many\\"" status=429', { body: 'Too "many"', status: 429 }],
    ['* body={"hits":[]}', { body: '{"hits":[]}' }],
    ['* retry-after=3', { retryAfter: 3 }],
    [
      '* retry-after="Wed, 01 Jan 2031 00:00:00 GMT"',
      { retryAfter: 'Wed, 01 Jan 2031 00:00:00 GMT' },
    ],
    ['*:query hang', { type: 'query', hang: true }],
    ['create lost', { operation: 'create', lost: true }],
    ['* delay=500', { delayMs: 500 }],
    ['* redirect=http://a.example/?x=1', { redirectTo: 'http://a.example/?x=1' }],
    ['export trailing="} "', { operation: 'export', trailing: '} ' }],
    [
      'import fail-ids=search:1,search:2',
      { operation: 'import', failIds: ['search:1', 'search:2'] },
    ],
  ])('reads %s', (text, fault) => {
    expect(parseFault(text)).toEqual(fault)
  })

  it.each([
    ['', 'it is empty'],
    ['fetch status=503', "'fetch' is not one of *, whoami"],
    ['export', 'it has no effect'],
    ['export stauts=503', "'stauts' is not one of"],
    ['export constructor=1', "'constructor' is not one of"],
    ['export status=abc', "'abc' is not a whole number"],
    ['export status', "'status' needs a value"],
    ['export status=', "'status' needs a value"],
    ['export status=700', 'status: expected at most 599, found 700'],
    ['export cut=1', "'cut' takes no value"],
    ['export cut cut', "'cut' is given twice"],
    ['export body="open', 'a double quote is not closed'],
  ])('says what is wrong with %j', (text, reason) => {
    expect(() => parseFault(text)).toThrow(DashkeepError)
    expect(() => parseFault(text)).toThrow(reason)
  })
})
