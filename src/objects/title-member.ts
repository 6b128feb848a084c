/** The member with the title of an object of this type. */
export function titleMember(type: string): string {
  return type === 'sub-accounts' ? 'accountName' : 'title'
}
