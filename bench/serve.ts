/** Runs the sandbox in a separate process. The first argument has its options as JSON. */

import { startSandbox } from '../src/sandbox/sandbox.ts'

await using sandbox = await startSandbox(JSON.parse(process.argv[2] ?? '{}'))
console.log(sandbox.url)
// Ends when the parent process ends.
for await (const _chunk of process.stdin);
