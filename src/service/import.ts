/** Objects to import in one request. */
export interface ObjectImport {
  /** The service's kibanaVersion. */
  readonly kibanaVersion: string
  /** Whether existing objects are overwritten. */
  readonly override: boolean
  /** Hits of an export, byte for byte. */
  readonly hits: readonly Uint8Array[]
}

/** The result of an import, as ids or names of objects. */
export interface ImportAnswer {
  readonly created: readonly string[]
  readonly updated: readonly string[]
  readonly ignored: readonly string[]
  readonly failed: readonly string[]
}

/** Path of imports in deployed services, after the path prefix. */
export const importPath = '/kibana/import'

/** Encodes the body of an import. The bytes of the hits stay unchanged. */
export function encodeImport({ kibanaVersion, override, hits }: ObjectImport): Uint8Array {
  const head = `{"kibanaVersion":${JSON.stringify(kibanaVersion)},"override":${override},"hits":[`
  const parts = hits.flatMap((hit, index) => (index === 0 ? [hit] : [comma, hit]))
  return Buffer.concat([Buffer.from(head), ...parts, Buffer.from(']}')])
}

const comma = Buffer.from(',')
