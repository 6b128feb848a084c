import { readAccountId } from '../account-id.ts'

/** Folder of all pins, beside the folders of accounts. */
export const pinFolder = 'pins'

/** Folder of all records of verifications and drills, beside the folders of accounts. */
export const proofFolder = 'proofs'

/**
 * Every key of an account's folder sorts before this one: it begins with a digit or `-`. The folders
 * above sort after it, so a listing of all accounts ends here.
 */
export const endOfAccounts = ':'

/** Whether a key, without a final slash, names one of these folders, or an account's part of it. */
export function isSideFolder(key: string): boolean {
  const [folder = '', account, ...rest] = key.split('/')
  if (![pinFolder, proofFolder].includes(folder) || rest.length > 0) return false
  return account === undefined || readAccountId(account) !== undefined
}
