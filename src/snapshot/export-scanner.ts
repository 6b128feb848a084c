/** One hit of an export document, as it stands in the body. */
export interface RawHit {
  /** The hit's bytes, from `{` to `}`. They are valid until the callback returns: copy to keep. */
  readonly bytes: Uint8Array
  /** The hit's place in `hits`, from 0. */
  readonly index: number
}
