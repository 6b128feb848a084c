import { describe, expect, it } from 'vitest'
import { isSameService } from '../../src/archive/origin.ts'

const address = 'https://api.example.com'

describe('the address of a service', () => {
  it.each([
    'https://api.example.com/',
    'https://api.example.com//',
    'https://API.Example.COM',
    'HTTPS://api.example.com:443/',
  ])('is the same as %s', (other) => {
    expect(isSameService(address, other)).toBe(true)
    expect(isSameService(other, address)).toBe(true)
  })

  it.each([
    'http://api.example.com',
    'https://api.example.com:8443',
    'https://api-eu.example.com',
    'https://api.example.com/team',
    'not an address',
  ])('is not that of %s', (other) => {
    expect(isSameService(address, other)).toBe(false)
  })

  it('keeps the case of its path', () => {
    expect(isSameService(`${address}/Team`, `${address}/team`)).toBe(false)
    expect(isSameService(`${address}/team/`, `${address}/team`)).toBe(true)
  })
})
