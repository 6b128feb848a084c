import type { PatchOperation } from '../../src/objects/diff-objects.ts'
import type { JsonValue } from '../../src/objects/lossless-json.ts'

/** Applies a JSON Patch as RFC 6902 says, for the operations that a diff uses. */
export function applyPatch(value: JsonValue, patch: readonly PatchOperation[]): JsonValue {
  const root: JsonValue[] = [structuredCopy(value)]
  for (const operation of patch) {
    if (operation.op === 'move') put(root, operation.path, take(root, operation.from), 'insert')
    else if (operation.op === 'remove') take(root, operation.path)
    else if (operation.op === 'add') put(root, operation.path, operation.value, 'insert')
    else put(root, operation.path, operation.value, 'replace')
  }
  return root[0] as JsonValue
}

/** What holds the place, and its token there; the whole value is the first item of `root`. */
function locate(root: JsonValue[], pointer: string): [JsonValue, string] {
  const tokens = `/0${pointer}`.split('/').slice(1)
  const unescaped = tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
  let holder: JsonValue = root
  for (const token of unescaped.slice(0, -1)) holder = child(holder, token)
  return [holder, unescaped.at(-1) as string]
}

function child(holder: JsonValue, token: string): JsonValue {
  let found: JsonValue | undefined
  if (holder instanceof Map) found = holder.get(token)
  else if (Array.isArray(holder)) found = holder[Number(token)]
  if (found === undefined) throw new Error(`nothing is at ${token}`)
  return found
}

function take(root: JsonValue[], pointer: string): JsonValue {
  const [holder, token] = locate(root, pointer)
  const found = child(holder, token)
  if (holder instanceof Map) holder.delete(token)
  else (holder as JsonValue[]).splice(Number(token), 1)
  return found
}

function put(
  root: JsonValue[],
  pointer: string,
  value: JsonValue,
  how: 'insert' | 'replace',
): void {
  const [holder, token] = locate(root, pointer)
  if (how === 'replace') child(holder, token)
  if (holder instanceof Map) holder.set(token, structuredCopy(value))
  else if (!Array.isArray(holder) || Number(token) > holder.length) throw new Error('no such place')
  else holder.splice(Number(token), how === 'insert' ? 0 : 1, structuredCopy(value))
}

function structuredCopy(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(structuredCopy)
  if (value instanceof Map)
    return new Map([...value].map(([name, item]) => [name, structuredCopy(item)]))
  return value
}
