import { describe, expect, it } from 'vitest'
import { runDashkeep } from '../e2e/run-dashkeep.ts'

describe('a mistake on the command line', () => {
  it.each([
    [
      ['list', '--acount', '7'],
      'Cannot use --acount: dashkeep list has no such option',
      'did you mean --account?',
    ],
    [
      ['list', '--colour'],
      'Cannot use --colour: dashkeep list has no such option',
      '`dashkeep list --help` lists the options',
    ],
    [['-x'], 'Cannot use -x: dashkeep has no such option', '`dashkeep --help` lists the options'],
    [['lits'], 'Cannot find the verb lits: dashkeep has no such verb', 'did you mean list?'],
    [
      ['accounts', 'destroy'],
      'Cannot find the verb destroy: dashkeep accounts has no such verb',
      '`dashkeep accounts --help` lists the verbs',
    ],
    [
      ['help', 'acounts'],
      'Cannot find the verb acounts: dashkeep has no such verb',
      'did you mean accounts?',
    ],
    [
      ['find'],
      'Cannot run dashkeep find: <text> is missing',
      'type dashkeep find <text>: text to search for',
    ],
    [
      ['accounts', 'update'],
      'Cannot run dashkeep accounts update: <id> is missing',
      'type dashkeep accounts update <id>: id of the sub account',
    ],
    [
      ['list', 'shop', '7'],
      'Cannot use shop 7: dashkeep list takes no argument',
      'leave it out, or quote an argument that contains spaces; `dashkeep list --help` lists the options',
    ],
    [
      ['show', '3', 'days', 'ago'],
      'Cannot use days ago: dashkeep show takes only 1 argument',
      'leave it out, or quote an argument that contains spaces; `dashkeep show --help` lists the options',
    ],
    [
      ['list', '--store'],
      'Cannot use --store: its value is missing',
      'type --store <url>: s3://bucket/prefix, a folder or the name of a copy (default: DASHKEEP_STORE)',
    ],
    [
      ['accounts', 'create', '--name', 'Shop', '--retention-days', '7'],
      'Cannot run dashkeep accounts create: --email is missing',
      'add --email <address>: email of an admin user of the main account',
    ],
    [
      ['list', '--quiet', '--verbose'],
      'Cannot use --verbose with --quiet: they exclude each other',
      'use one of them',
    ],
  ])('is a usage error that says what to type: %s', async (args, message, hint) => {
    const { exitCode, stdout, stderr } = await runDashkeep(args, { env: {} })
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toBe(`error: ${message}\nhint: ${hint}\n`)
  })

  it('does not hide help and version', async () => {
    for (const args of [['--help'], ['list', '--help'], ['--version']]) {
      const { exitCode, stdout, stderr } = await runDashkeep(args, { env: {} })
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
      expect(stdout).not.toBe('')
    }
  })

  it('prints the help on standard error when the verb is missing', async () => {
    for (const args of [[], ['accounts']]) {
      const { exitCode, stdout, stderr } = await runDashkeep(args, { env: {} })
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
      expect(stderr).toContain('Usage: dashkeep')
    }
  })
})
