import type { Reporter } from 'vitest/node'

const start = 'Left out: '

/**
 * Says what this machine cannot test, and how to include it, such as `with Docker`. Each line is
 * printed once, at the end of the run.
 */
export function leaveOut(what: string, how: string): void {
  console.info(`${start}${what}. Include it ${how}`)
}

/** Gathers what {@link leaveOut} says in all files and prints it after everything else. */
export function gatherLeftOut(): { onConsoleLog(text: string): boolean; reporter: Reporter } {
  const gathered = new Set<string>()
  return {
    /** Whether the text is to be printed right away. */
    onConsoleLog(text) {
      const lines = text.trimEnd().split('\n')
      for (const line of lines) if (line.startsWith(start)) gathered.add(line)
      return !lines.every((line) => line.startsWith(start))
    },
    reporter: {
      onTestRunEnd() {
        if (gathered.size > 0) process.stdout.write(`${[...gathered].toSorted().join('\n')}\n`)
      },
    },
  }
}
