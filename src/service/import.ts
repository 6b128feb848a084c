/** Objects to give back to the service in one request. */
export interface ObjectImport {
  /** Must be the one of the service. */
  readonly kibanaVersion: string
  /** Whether objects that the service has are overwritten; they stay as they are otherwise. */
  readonly override: boolean
  /** Hits as an export holds them, in their own bytes. */
  readonly hits: readonly Uint8Array[]
}

/** What the service says has become of the objects: ids or names, as it likes. */
export interface ImportAnswer {
  readonly created: readonly string[]
  readonly updated: readonly string[]
  readonly ignored: readonly string[]
  readonly failed: readonly string[]
}

/** Where deployed services take imports, behind the path prefix. */
export const importPath = '/kibana/import'

/** The body of an import. The hits stay byte for byte what they are. */
export function encodeImport({ kibanaVersion, override, hits }: ObjectImport): Uint8Array {
  const head = `{"kibanaVersion":${JSON.stringify(kibanaVersion)},"override":${override},"hits":[`
  const parts = hits.flatMap((hit, index) => (index === 0 ? [hit] : [comma, hit]))
  return Buffer.concat([Buffer.from(head), ...parts, Buffer.from(']}')])
}

const comma = Buffer.from(',')
