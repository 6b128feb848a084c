import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const GIB = 1024 ** 3

/** A folder in memory for the files of the tests: Linux has one, with enough room on most machines. */
export function findMemoryFolder(folder = '/dev/shm'): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize >= 4 * GIB && allowsPrograms(folder) ? folder : undefined
  } catch {
    return undefined
  }
}

/** Some tests write a program and run it, which the folder of a container often forbids. */
function allowsPrograms(folder: string): boolean {
  const own = mkdtempSync(join(folder, 'dashkeep-'))
  const program = join(own, 'program')
  try {
    writeFileSync(program, '#!/bin/sh\n')
    chmodSync(program, 0o755)
    execFileSync(program)
    return true
  } catch {
    return false
  } finally {
    rmSync(own, { recursive: true })
  }
}
