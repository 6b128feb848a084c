import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the tests that need it build the program. Empty at the start of every run. */
    programFolder: string
  }
}

/** Makes the folder and removes it in the end. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'dashkeep-program-'))
  const remove = () => rm(folder, { recursive: true })
  project.provide('programFolder', folder)
  project.onTestsRerun(async () => {
    await remove()
    await mkdir(folder)
  })
  return remove
}
