import { z } from 'zod'
import type { ImportAnswer } from './import.ts'
import type { CreatedSubAccount, SubAccount } from './sub-account.ts'

/** Current account (specification, section 5). */
export const accountSchema = z.object({ accountId: z.int(), accountName: z.string() })

/** An export (specification, "Export result"). */
export const exportSchema = z.object({ kibanaVersion: z.string(), hits: z.array(z.unknown()) })

/** Answer to a create (specification, section 1). */
export const createdSubAccountSchema: z.ZodType<CreatedSubAccount> = z.object({
  accountId: z.int(),
  accountToken: z.string().min(1),
})

const names = z.array(z.string())

/** Answer to an import (not in the specification). */
export const importAnswerSchema: z.ZodType<ImportAnswer> = z.object({
  created: names,
  updated: names,
  ignored: names,
  failed: names,
})

/** Answer to a list (specification, section 2). Keeps unknown members. */
export const subAccountsSchema: z.ZodType<SubAccount[]> = z.array(
  z.looseObject({
    accountId: z.int(),
    accountName: z.string(),
    email: z.string().nullish(),
    maxDailyGB: z.number().nullable(),
    retentionDays: z.number(),
    searchable: z.boolean(),
    accessible: z.boolean(),
    docSizeSetting: z.boolean(),
    sharingObjectsAccounts: z.array(
      z.union([z.int(), z.looseObject({ accountId: z.int(), accountName: z.string().optional() })]),
    ),
    utilizationSettings: z.looseObject({
      frequencyMinutes: z.number().nullable(),
      utilizationEnabled: z.boolean(),
    }),
  }),
)
