import { describe, expect, it } from 'vitest'
import { findReportedError } from '../src/reported-error.ts'

describe('an error that a document reports', () => {
  it.each([
    [{ code: 403, message: 'Insufficient privileges' }, false],
    [{ code: '404' }, false],
    [{ code: -1 }, false],
    [{ code: 7 }, false],
    [{ code: 'DENIED' }, false],
    [{ code: 429 }, true],
    [{ code: 503, message: 'Later' }, true],
    [{ errorCode: 'A/B' }, false],
    [{ status: 500 }, true],
    [{ status: '403' }, false],
    [{ message: 'Too many objects' }, false],
    [{ error: true }, false],
    [{ error: { type: 'x' } }, false],
    [{ errors: [{}] }, false],
    [{ success: false }, false],
    [{ timed_out: true }, true],
    [{ timed_out: true, message: 'incomplete' }, true],
    [{ timed_out: true, errorCode: 'A/B' }, false],
    [{ terminated_early: true }, true],
    [{ partial: true }, true],
    [{ is_partial: 'true' }, true],
    [{ statusCode: 503 }, true],
    [{ statusCode: 400 }, false],
    [{ errorMessage: 'could not read all' }, false],
    [{ exception: 'OutOfMemoryError' }, false],
    [{ _shards: { failed: 1 } }, true],
    [{ _shards: { failed: '1', total: 2 } }, true],
    [{ _shards: { failures: [{}] } }, true],
  ])('is found in %j', (document, transient) => {
    expect(findReportedError(document)).toMatchObject({ transient })
  })

  it.each([
    {},
    { code: 0 },
    { code: 200 },
    { code: '201', errorCode: '' },
    { code: null, errorCode: 'none', error: null },
    { message: '' },
    { message: ' OK ' },
    { message: 'Success', success: true },
    { error: false, errors: [] },
    { error: {}, errors: false },
    { status: 'complete' },
    { status: 200 },
    { partial: false, statusCode: 200, errorMessage: null, exception: '' },
    { timed_out: false, terminated_early: false, took: 7, total: 90 },
    { _shards: { total: 5, successful: 5, skipped: 2, failed: 0, failures: [] } },
    { _source: { code: 403, message: 'an object' } },
    [{ code: 403 }],
    'code 403',
    null,
  ])('is not found in %j', (document) => {
    expect(findReportedError(document)).toBeUndefined()
  })

  it('is named with all that reports it', () => {
    const document = { code: 500, message: 'no "time"', timed_out: true, _shards: { failed: 2 } }
    expect(findReportedError(document)?.text).toBe(
      'code 500, message "no \\"time\\"", it timed out, 2 shards failed',
    )
  })
})
