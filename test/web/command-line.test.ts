import { describe, expect, it } from 'vitest'
import { commandLine } from '../../src/web/command-line.ts'

describe('a command on a page', () => {
  it.each([
    ['-x', 'dashkeep find --account 10 -- -x'],
    ['--config=/tmp/e', "dashkeep find --account 10 -- '--config=/tmp/e'"],
    ['~root', "dashkeep find '~root' --account 10"],
    ['=ls', "dashkeep find '=ls' --account 10"],
    ["it's", "dashkeep find 'it'\\''s' --account 10"],
    ['$(id)', "dashkeep find '$(id)' --account 10"],
    ['a\u202eb', "dashkeep find $'a\\U0000202eb' --account 10"],
    ['a\n\\b', "dashkeep find $'a\\U0000000a\\\\b' --account 10"],
    ['', "dashkeep find '' --account 10"],
  ])('passes on the text %j unchanged', (given, command) => {
    expect(commandLine('find', { given }, '--account', 10)).toBe(command)
  })

  it('does not shorten a text', () => {
    const id = `search:${'a'.repeat(3000)}`
    expect(commandLine('cat', { given: id })).toBe(`dashkeep cat ${id}`)
  })

  it.each(['search:\ud800', 'search:\0'])('says that no shell can pass on %j', (id) => {
    expect(commandLine('cat', { given: id })).toMatch(/^# No command/)
    expect(commandLine('diff', '--object', id)).toMatch(/^# No command/)
  })
})
