/** The member of an object of this type that people know it by. */
export function titleMember(type: string): string {
  return type === 'sub-accounts' ? 'accountName' : 'title'
}
