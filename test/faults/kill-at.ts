/**
 * Loaded into a process by `--import`: kills it when it is about to make its n-th call of the file
 * system, n being `DASHKEEP_TEST_KILL_AT`, and in the middle of it where that is a write. Without a
 * number it says at the end how many calls there were.
 */
import { writeSync } from 'node:fs'
import promises, { type FileHandle, open } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'

const killAt = Number(process.env.DASHKEEP_TEST_KILL_AT ?? Number.POSITIVE_INFINITY)
let calls = 0

function kill(): void {
  process.kill(process.pid, 'SIGKILL')
}

/** Counts a function's calls and kills before the one that was asked for. */
function count<T extends object>(owner: T, names: readonly (keyof T & string)[]): void {
  for (const name of names) {
    const original = owner[name] as (...args: unknown[]) => unknown
    const counted = function (this: unknown, ...args: unknown[]) {
      calls += 1
      if (calls === killAt) kill()
      return original.apply(this, args)
    }
    Object.assign(owner, { [name]: counted })
  }
}

await using handle = await open(import.meta.filename)
const files = Object.getPrototypeOf(handle) as FileHandle
const { writeFile } = files
files.writeFile = async function (this: FileHandle, data) {
  calls += 1
  if (calls === killAt) {
    const bytes = data as Uint8Array
    await writeFile.call(this, bytes.subarray(0, bytes.length >> 1))
    kill()
  }
  return writeFile.call(this, data)
}
count(files, ['sync', 'read', 'close'])
count(promises, ['mkdir', 'open', 'rename', 'rm', 'rmdir', 'stat'])
syncBuiltinESMExports()

process.on('exit', () => writeSync(2, `${JSON.stringify({ calls })}\n`))
