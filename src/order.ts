/**
 * Compares two values for sorting: negative, 0 or positive. Texts are compared by their UTF-16 code
 * units, so the order does not depend on the language of the machine.
 */
export function compareValues<Value extends string | number>(left: Value, right: Value): number {
  if (left === right) return 0
  return left < right ? -1 : 1
}
