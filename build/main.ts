#!/usr/bin/env node
import { explainOldNode } from '../src/node-version.ts'

const problem = explainOldNode(process.versions.node)
if (problem === undefined) {
  // Imported late: an older Node cannot even load the rest.
  void import('../src/main.ts')
} else {
  process.stderr.write(problem)
  process.exitCode = 2
}
