/** The remote service in a process of its own: options as JSON in the first argument. */

import { startSandbox } from '../src/sandbox/sandbox.ts'

await using sandbox = await startSandbox(JSON.parse(process.argv[2] ?? '{}'))
console.log(sandbox.url)
// Ends with whoever started it.
for await (const _chunk of process.stdin);
