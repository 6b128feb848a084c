/** Members of the hit that differ between two exports of the same object. */
export const unstableHitMembers: readonly string[] = ['_index', '_score']

/** Members of `_source` that differ when an object was saved without a change. */
export const touchMembers: readonly string[] = ['updated_at', 'version', '_updatedAt']
