import { describe, expect, it } from 'vitest'
import { encodeMetadata } from '../../../src/store/s3/metadata.ts'

describe('the metadata of an object', () => {
  it('is ASCII that decodes to the clean value', () => {
    const { version = '' } = encodeMetadata({ version: ' 7.10\r\n\u202eß%\u001b[2J ' })
    expect(version).toMatch(/^[\x21-\x7e][\x20-\x7e]*[\x21-\x7e]$/)
    expect(decodeURIComponent(version)).toBe(' 7.10 \ufffdß%\ufffd[2J ')
  })

  it('stays below the 2 kB that servers take, however long a version is', () => {
    const metadata = { 'kibana-version': '漢'.repeat(1_000_000), type: 'search' }
    expect(JSON.stringify(encodeMetadata(metadata)).length).toBeLessThan(1100)
  })
})
