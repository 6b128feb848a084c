import { describe, expect, it } from 'vitest'
import { runDashkeep } from '../e2e/run-dashkeep.ts'

describe('an option that takes a number', () => {
  it.each([
    [
      ['prune', '--keep-last', 'ten'],
      'error: Cannot use --keep-last ten: it is not a whole number\nhint: use digits only, such as --keep-last 7\n',
    ],
    [['sandbox', '--port', '-1'], 'error: Cannot use --port -1: it is not a whole number\n'],
    [
      ['prune', '--keep-daily', '0', '--store', 'file:///tmp'],
      'error: Cannot use --keep-daily 0: the minimum is 1\n',
    ],
  ])('names the option and the value that it refuses: %s', async (args, message) => {
    const { exitCode, stdout, stderr } = await runDashkeep(args, { env: {} })
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toContain(message)
  })
})
