import * as z from 'zod'
import type { Behaviour, SubAccountSettings } from '../options.ts'
import { defaultSettings } from '../state/state.ts'
import { refused } from './reply.ts'

/** The parsed body of a create. */
interface CreateRequest {
  readonly email: string
  readonly accountName: string
  readonly settings: SubAccountSettings
}

/** The parsed body of a replace. */
interface ReplaceRequest {
  readonly accountName: string
  readonly settings: SubAccountSettings
}

/** Parses the body of a create. Missing optional members get their defaults. */
export function readCreate(body: Uint8Array, behaviour: Behaviour): CreateRequest {
  const create = z.object({ email: z.string().min(3) }).extend(shapeOf(behaviour))
  const { email, accountName, ...settings } = parse(create, body)
  return { email, accountName, settings }
}

/**
 * Parses the body of a replace. Missing members get their defaults. `present` is the current name. It
 * may stay, even with characters that a new name may not have.
 */
export function readReplace(
  body: Uint8Array,
  behaviour: Behaviour,
  present: string,
): ReplaceRequest {
  const { accountName, ...settings } = parse(z.object(shapeOf(behaviour, present)), body)
  return { accountName, settings }
}

/** Parses the body of an export and returns its type. */
export function readExportType(body: Uint8Array, types: readonly string[]): string {
  const { type } = parse(z.object({ type: z.string() }), body)
  if (!types.includes(type)) {
    throw invalid(`type: '${type}' is not one of ${types.join(', ')}`)
  }
  return type
}

/** The refusal of an invalid body. */
export function invalid(message: string): ReturnType<typeof refused> {
  return refused(400, 'Request/INVALID_BODY', message)
}

function shapeOf({ lenientBodies: lenient }: Behaviour, presentName?: string) {
  const flag = lenient ? z.union([z.boolean(), z.stringbool()]) : z.boolean()
  const gigabytes = lenient ? z.number().min(0).nullable() : z.int().min(0)
  const optionalGigabytes = z.number().min(0).nullable()
  return {
    accountName: z
      .string()
      .refine(
        (name) => name === presentName || /^[\p{L}\p{N} ._-]+$/u.test(name),
        'letters, digits, - . _ and space only',
      ),
    retentionDays: z.int().min(1),
    maxDailyGB: gigabytes.default(defaultSettings.maxDailyGB as number),
    searchable: flag.default(defaultSettings.searchable),
    accessible: flag.default(defaultSettings.accessible),
    docSizeSetting: flag.default(defaultSettings.docSizeSetting),
    sharingObjectsAccounts: z.array(z.int()).default([]),
    utilizationSettings: z
      .object({
        frequencyMinutes: z.int().min(1).nullable().default(null),
        utilizationEnabled: flag.default(false),
      })
      .default(defaultSettings.utilizationSettings),
    isFlexible: flag.default(defaultSettings.isFlexible),
    reservedDailyGB: optionalGigabytes.default(defaultSettings.reservedDailyGB),
    softLimitGB: optionalGigabytes.default(defaultSettings.softLimitGB),
    snapSearchRetentionDays: z.int().min(1).nullable().default(null),
  }
}

function parse<Value>(schema: z.ZodType<Value>, body: Uint8Array): Value {
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(body).toString())
  } catch {
    throw invalid('The body is not JSON')
  }
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issues = result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  throw invalid(issues.join('; '))
}
