/** Lists at most `max` names: `a, b and 3 more`. `total` is their number when `names` is cut already. */
export function listSome(names: readonly string[], max: number, total = names.length): string {
  const shown = names.slice(0, max)
  const hidden = total - shown.length
  return `${shown.join(', ')}${hidden > 0 ? ` and ${hidden} more` : ''}`
}
