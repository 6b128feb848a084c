import { execFile, execFileSync } from 'node:child_process'
import { writeSync } from 'node:fs'
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { createWorkerMetrics } from '../../src/worker/worker-metrics.ts'
import { k8sFolder } from './render.ts'

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly description: string }
}

interface Panel {
  readonly id: number
  readonly title: string
  readonly gridPos: { x: number; y: number; w: number; h: number }
  readonly targets: readonly { readonly expr: string }[]
}

const monitoring = join(k8sFolder, 'components/monitoring')
const { spec } = parse(await readFile(join(monitoring, 'prometheus-rule.yaml'), 'utf8')) as {
  spec: { groups: readonly { name: string; rules: readonly Rule[] }[] }
}
const rules = spec.groups.flatMap((group) => group.rules)
const { panels, templating } = JSON.parse(
  await readFile(join(monitoring, 'dashboard.json'), 'utf8'),
) as { panels: readonly Panel[]; templating: { list: readonly { name: string }[] } }
const expressions = [
  ...rules.map(({ expr }) => expr),
  ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
]

function hasPromtool(): boolean {
  try {
    execFileSync('promtool', ['--version'])
    return true
  } catch {
    return false
  }
}

const promtool = hasPromtool()
if (!promtool) {
  writeSync(2, 'Left out: promtool over the alerts. Include it with the package prometheus\n')
}

/** Runs promtool in a folder with the rules, and with the dashboard's expressions as rules. */
async function runPromtool(...args: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'dashkeep-rules-'))
  try {
    const plain = (expr: string) => expr.replaceAll('$__rate_interval', '5m')
    const shown = expressions.map((expr, place) => ({
      record: `shown:${place}`,
      expr: plain(expr),
    }))
    await writeFile(join(folder, 'rules.yaml'), stringify(spec))
    await writeFile(
      join(folder, 'dashboard.yaml'),
      stringify({ groups: [{ name: 'dashboard', rules: shown }] }),
    )
    const tests = fileURLToPath(new URL('alerts.yaml', import.meta.url))
    await copyFile(tests, join(folder, 'alerts.yaml'))
    const { stdout } = await promisify(execFile)('promtool', args, { cwd: folder }).catch(
      (error: { stdout: string; stderr: string }) => {
        throw new Error(error.stdout + error.stderr)
      },
    )
    return stdout
  } finally {
    await rm(folder, { recursive: true })
  }
}

describe('alerts and dashboard', () => {
  it('ask for metrics that the worker has, and for ones of kube-state-metrics', async () => {
    const text = await createWorkerMetrics().text()
    const own = [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name)
    const asked = expressions.flatMap((expr) => expr.match(/\b(dashkeep|kube)_\w+/g) ?? [])
    expect(own.length).toBeGreaterThan(5)
    expect(asked.length).toBeGreaterThan(20)
    const fromCluster = [
      'kube_cronjob_status_last_successful_time',
      'kube_cronjob_spec_suspend',
      'kube_job_failed',
    ]
    expect(asked.filter((name) => ![...own, ...fromCluster].includes(name))).toEqual([])
  })

  it('say how bad it is, what happened and what to do', () => {
    for (const { alert, labels, annotations } of rules) {
      expect(alert).toMatch(/^Dashkeep[A-Z]\w+$/)
      expect(['warning', 'critical']).toContain(labels.severity)
      expect(annotations.summary).not.toBe('')
      expect(annotations.description).toMatch(/`|log/)
    }
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
  })

  it('have panels that do not lie over each other, and variables that are there', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)} ${y + Math.floor(cell / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
    const names = templating.list.map(({ name }) => `$${name}`)
    const used = expressions.flatMap((expr) => expr.match(/\$(?!labels|value)\w+/g) ?? [])
    expect(used.filter((name) => ![...names, '$__rate_interval'].includes(name))).toEqual([])
  })

  it.skipIf(!promtool)('are understood by Prometheus', async () => {
    expect(await runPromtool('check', 'rules', 'rules.yaml')).toContain('11 rules found')
    expect(await runPromtool('check', 'rules', 'dashboard.yaml')).toContain('rules found')
  })

  it.skipIf(!promtool)('fire when they should, and not before', async () => {
    expect(await runPromtool('test', 'rules', 'alerts.yaml')).toContain('SUCCESS')
  })
})
