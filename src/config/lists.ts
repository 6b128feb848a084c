import type { SecretSource } from './config.ts'
import { isSection, listAt, type Section, valueAt, withValue } from './section.ts'
import { accountIdOf, accountOf, notificationsOf, type Variables } from './variables.ts'

/**
 * Adds the account and the notifications that variables describe if the file lists none. Variables add
 * nothing to a list of the file: a variable applies if the list names it as the source of a secret, and
 * is a problem otherwise.
 */
export function addLists(
  file: Section,
  variables: Variables,
  problems: string[],
): { document: Section; sources: ReadonlyMap<string, string> } {
  const sources = new Map<string, string>()
  const withAccounts = addAccounts(file, variables, { problems, sources })
  const notifications = notificationsOf(variables)
  if (file.notifications === undefined) {
    if (notifications.length === 0) return { document: withAccounts, sources }
    const list = notifications.map(({ kind, url }) => ({ kind, url }))
    return { document: withValue(withAccounts, 'notifications', list), sources }
  }
  const urls = listAt(file, 'notifications').map((one) => valueAt(one, 'url'))
  for (const { url, source } of notifications) {
    if (urls.some((one) => isSame(one, url))) continue
    problems.push(
      `${source}: the configuration file lists notifications, and none has this address: unset it, or name it there as the url of one`,
    )
  }
  return { document: withAccounts, sources }
}

function addAccounts(
  file: Section,
  variables: Variables,
  { problems, sources }: { problems: string[]; sources: Map<string, string> },
): Section {
  const [token, id] = [variables.given.get('API_TOKEN'), variables.given.get('ACCOUNT_ID')]
  const accountId = accountIdOf(variables)
  if (id && accountId === undefined) {
    const found = id.value.length <= 20 ? `, found ${JSON.stringify(id.value)}` : ''
    problems.push(`${id.source}: expected an integer${found}`)
  }
  if (file.accounts === undefined) {
    const account = accountOf(variables)
    if (account === undefined || token === undefined) return file
    sources.set('accounts.0.token', token.source)
    return withValue(file, 'accounts', [account])
  }
  const owns = (account: unknown) => isSame(valueAt(account, 'token'), token?.secret)
  const accounts = listAt(file, 'accounts')
  const isUsed = [...accounts, file.management].some(owns)
  if (token && !isUsed) {
    problems.push(
      `${token.source}: the configuration file lists accounts, and none has this token: unset it, or name it there as the token of one`,
    )
  }
  if (id && !isUsed) {
    problems.push(
      `${id.source}: the configuration file lists accounts, and none has the token of DASHKEEP_API_TOKEN: unset it, or write the accountId into the file`,
    )
  }
  if (accountId === undefined || !isUsed) return file
  const identify = (one: unknown) => (isSection(one) && owns(one) ? { ...one, accountId } : one)
  const { management } = file
  return {
    ...file,
    ...(accounts.length > 0 && { accounts: accounts.map(identify) }),
    ...(management !== undefined && { management: identify(management) }),
  }
}

/** Finds the address or prefix of a variable that no account uses, because each has its own. */
export function findIgnoredAddresses(file: Section, { given }: Variables): string[] {
  const accounts = [...listAt(file, 'accounts'), file.management].filter(isSection)
  if (accounts.length === 0 || file.accounts === undefined) return []
  return (
    [
      ['BASE_URL', 'baseUrl'],
      ['PATH_PREFIX', 'pathPrefix'],
    ] as const
  ).flatMap(([name, member]) => {
    const variable = given.get(name)
    const applies = accounts.some((account) =>
      [undefined, variable?.value].includes(account[member] as string | undefined),
    )
    if (variable === undefined || applies) return []
    return `${variable.source}: every account of the configuration file has its own ${member}: unset the variable, or remove these settings`
  })
}

/** The variables that a document reads secrets from. */
export function findSources(document: Section): string[] {
  const places = [
    ...listAt(document, 'accounts').map((account) => valueAt(account, 'token')),
    ...listAt(document, 'notifications').map((notification) => valueAt(notification, 'url')),
    valueAt(document, 'management.token'),
    valueAt(document, 'encryption.passphrase'),
    valueAt(document, 'encryption.identity'),
  ]
  return places.map((source) => valueAt(source, 'env')).filter((env) => typeof env === 'string')
}

function isSame(source: unknown, secret: SecretSource | undefined): boolean {
  if (secret === undefined) return false
  return 'env' in secret
    ? valueAt(source, 'env') === secret.env
    : valueAt(source, 'file') === secret.file
}
