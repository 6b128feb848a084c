/** An error that a JSON document reports in its top-level members. */
interface ReportedError {
  /** Such as `code 403, message "Insufficient privileges"`. It can be long and is not cleaned. */
  readonly text: string
  /** Whether the same request may succeed a moment later. */
  readonly transient: boolean
}

/** A member that reports an error. `transient` is undefined when unknown. */
interface Finding {
  readonly text: string
  readonly transient?: boolean | undefined
}

/**
 * Finds an error that a document reports beside its data, which may then be incomplete. These members
 * report an error:
 *
 * - `code` and `errorCode`: anything except 0, 100 to 399, an empty value, or a word such as `OK`
 * - `status`: a number of 400 or more
 * - `message`: any text except an empty one or a word such as `OK`
 * - `error` and `errors`: anything except an empty value, `false`, 0, or such a word
 * - `success`: `false`
 * - `statusCode`, `errorMessage` and `exception`: as `status`, `message` and `error`
 * - `timed_out`, `terminated_early`, `partial` and `is_partial`: `true`
 * - `_shards`: with `failed` above 0, or with `failures`
 *
 * Other members (`total`, `took`, `_scroll_id`, …) are ignored. An error is transient when the search was
 * incomplete, or the code is 408, 429 or at least 500, unless another code says otherwise.
 */
export function findReportedError(document: unknown): ReportedError | undefined {
  if (!isObject(document)) return undefined
  const { code, errorCode, status, message, error, errors, success } = document
  const findings = [
    findCode('code', code),
    findCode('errorCode', errorCode),
    isFailureStatus(status) ? findCode('status', status) : undefined,
    isFailureStatus(document.statusCode) ? findCode('statusCode', document.statusCode) : undefined,
    isPresent(message) ? { text: `message ${show(message)}` } : undefined,
    isPresent(error) ? { text: `error ${show(error)}` } : undefined,
    isPresent(errors) ? { text: `errors ${show(errors)}` } : undefined,
    isPresent(document.errorMessage)
      ? { text: `errorMessage ${show(document.errorMessage)}` }
      : undefined,
    isPresent(document.exception) ? { text: `exception ${show(document.exception)}` } : undefined,
    success === false ? { text: 'success false' } : undefined,
    isTrue(document.timed_out) ? { text: 'it timed out', transient: true } : undefined,
    isTrue(document.terminated_early) ? { text: 'it ended early', transient: true } : undefined,
    isTrue(document.partial) || isTrue(document.is_partial)
      ? { text: 'it is partial', transient: true }
      : undefined,
    findFailedShards(document._shards),
  ].filter((finding): finding is Finding => finding !== undefined)
  if (findings.length === 0) return undefined
  return {
    text: findings.map(({ text }) => text).join(', '),
    transient:
      findings.some(({ transient }) => transient === true) &&
      findings.every(({ transient }) => transient !== false),
  }
}

/** Whether the value of a `code` or an `errorCode` means an error. */
export function isErrorCode(value: unknown): boolean {
  const number = toNumber(value)
  if (number === undefined) return isPresent(value)
  return number !== 0 && (number < 100 || number >= 400)
}

function findCode(name: string, value: unknown): Finding | undefined {
  if (!isErrorCode(value)) return undefined
  const number = toNumber(value)
  const transient = number === 408 || number === 429 || (number ?? 0) >= 500
  return { text: `${name} ${number ?? show(value)}`, transient }
}

/** Only numbers count: some services use words such as `complete` as `status`. */
function isFailureStatus(value: unknown): boolean {
  return (toNumber(value) ?? 0) >= 400
}

function findFailedShards(shards: unknown): Finding | undefined {
  if (!isObject(shards)) return undefined
  const { failed, total, failures } = shards
  const known = toNumber(failed) ?? 0
  const listed = Array.isArray(failures) ? failures.length : 0
  const count = Math.max(known, listed)
  if (count <= 0) return undefined
  const of = toNumber(total) === undefined ? '' : ` of ${toNumber(total)}`
  return { text: `${count}${of} shards failed`, transient: true }
}

/** Values that mean there is no error. */
const harmlessWord = /^(ok|success|successful|succeeded|done|none|false|0|)$/i

/** Whether a value reports something other than success. */
function isPresent(value: unknown): boolean {
  if (typeof value === 'string') return !harmlessWord.test(value.trim())
  if (Array.isArray(value)) return value.length > 0
  if (isObject(value)) return Object.keys(value).length > 0
  return Boolean(value)
}

function isTrue(value: unknown): boolean {
  return value === true || value === 'true'
}

function toNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  return typeof value === 'string' && /^-?\d+$/.test(value.trim()) ? Number(value) : undefined
}

function show(value: unknown): string {
  return JSON.stringify(value)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
