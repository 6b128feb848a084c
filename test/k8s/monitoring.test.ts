import { execFile, execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { startTrial } from '../e2e/trial.ts'
import { startExporter } from '../exporter/start-exporter.ts'
import { leaveOut } from '../left-out.ts'
import { startWorker } from '../worker/start-worker.ts'
import { type Scenario, scenarios } from './alert-scenarios.ts'
import { toInputSeries } from './recorded-series.ts'
import { k8sFolder } from './render.ts'

interface Rule {
  /** Undefined for a recording rule. */
  readonly alert?: string
  /** The series that it records; undefined for an alert. */
  readonly record?: string
  readonly expr: string
}

interface Alert extends Rule {
  readonly alert: string
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
const alerts = rules.filter((rule): rule is Alert => rule.alert !== undefined)
const { panels, templating } = JSON.parse(
  await readFile(join(monitoring, 'dashboard.json'), 'utf8'),
) as {
  panels: readonly Panel[]
  templating: { list: readonly { name: string; definition?: string }[] }
}
/** Of version 2.x, see docs/metrics in its repository; all of them are stable. */
const ofKubeStateMetrics = [
  'kube_cronjob_created',
  'kube_cronjob_next_schedule_time',
  'kube_cronjob_spec_suspend',
  'kube_cronjob_status_last_successful_time',
  'kube_job_created',
  'kube_job_failed',
  'kube_job_owner',
]
const expressions = [
  ...rules.map(({ expr }) => expr),
  ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
]
/** Everything that Prometheus is asked, the dashboard's variables included. */
const questions = [...expressions, ...templating.list.map(({ definition }) => definition ?? '')]

function hasPromtool(): boolean {
  try {
    execFileSync('promtool', ['--version'])
    return true
  } catch {
    return false
  }
}

const promtool = hasPromtool()
if (!promtool) leaveOut('promtool over the alerts', 'with the package prometheus')

/** Runs promtool in a folder with the rules, the dashboard's expressions as rules, and the scenarios. */
async function runPromtool(...args: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'dashkeep-rules-'))
  try {
    const plain = (expr: string) =>
      expr.replaceAll('$__rate_interval', '5m').replaceAll(/"\$\w+"/g, '".*"')
    const shown = expressions.map((expr, place) => ({
      record: `shown:${place}`,
      expr: plain(expr),
    }))
    const groups = [{ name: 'dashboard', rules: shown }]
    await writeFile(join(folder, 'rules.yaml'), stringify(spec))
    await writeFile(join(folder, 'dashboard.yaml'), stringify({ groups }))
    await writeFile(join(folder, 'alerts.yaml'), JSON.stringify(scenarioFile(scenarios)))
    await writeFile(join(folder, 'minutes.yaml'), JSON.stringify(killedExporter()))
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

/** The scenarios as `promtool test rules` reads them: at each hour, every alert that fires. */
function scenarioFile(list: readonly Scenario[]): object {
  return {
    rule_files: ['rules.yaml'],
    evaluation_interval: '1h',
    tests: list.map(({ name, recorded, fires, says }) => ({
      name,
      interval: '1h',
      input_series: toInputSeries(recorded, Math.max(...Object.keys(fires).map(Number))),
      promql_expr_test: Object.entries(fires).map(([hour, firing]) => ({
        expr: 'ALERTS{alertstate="firing"}',
        eval_time: `${hour}h`,
        exp_samples: firing.map((alert) => ({ labels: toAlertSeries(alert), value: 1 })),
      })),
      alert_rule_test: says === undefined ? [] : [toTextTest(says)],
    })),
  }
}

/** Minute by minute: an exporter that one scrape in six sees, each time before its first read ends. */
function killedExporter(): object {
  const labels = '{namespace="dashkeep",pod="dashkeep-exporter-1"}'
  const seen = (value: number) => `${value} stale _ _ _ _ `.repeat(20)
  const [alertname, severity] = ['DashkeepArchiveUnreadable', 'critical']
  const input_series = [
    { series: `dashkeep_archive_readable${labels}`, values: seen(0) },
    { series: `dashkeep_build_info${labels}`, values: seen(1) },
  ]
  const fires = { exp_labels: { severity, namespace: 'dashkeep' } }
  const texts = alerts.find(({ alert }) => alert === alertname)?.annotations
  return {
    rule_files: ['rules.yaml'],
    evaluation_interval: '1m',
    tests: [
      {
        interval: '1m',
        input_series,
        alert_rule_test: [
          { eval_time: '10m', alertname, exp_alerts: [] },
          { eval_time: '35m', alertname, exp_alerts: [{ ...fires, exp_annotations: texts }] },
        ],
      },
    ],
  }
}

/** The series that Prometheus keeps of an alert that fires, from `Name{label="value"}`. */
function toAlertSeries(alert: string): string {
  const { alertname, labels } = readAlert(alert)
  const all = { alertname, alertstate: 'firing', ...labels }
  const texts = Object.entries(all).map(([label, value]) => `${label}="${value}"`)
  return `ALERTS{${texts.join(',')}}`
}

function toTextTest([hour, alert, summary, description]: NonNullable<Scenario['says']>): object {
  const { alertname, labels } = readAlert(alert)
  const expected = { exp_labels: labels, exp_annotations: { summary, description } }
  return { eval_time: `${hour}h`, alertname, exp_alerts: [expected] }
}

function readAlert(alert: string): { alertname: string; labels: Record<string, string> } {
  const [, alertname = '', texts = ''] = /^(\w+)\{(.*)\}$/.exec(alert) ?? []
  const severity = alerts.find((one) => one.alert === alertname)?.labels.severity
  if (severity === undefined) throw new Error(`no rule is called ${alertname}`)
  const given = texts.split(',').filter((text) => text !== '')
  const labels = given.map((text) => text.replaceAll('"', '').split('='))
  return { alertname, labels: { severity, ...Object.fromEntries(labels) } }
}

describe('alerts and dashboard', () => {
  it('ask for metrics that a scrape shows, and for ones of kube-state-metrics', async () => {
    await using trial = await startTrial()
    const start = '2026-11-20T12:00:00Z'
    const schedule = { DASHKEEP_SCHEDULE: '15 3 * * *' }
    await using worker = await startWorker({ trial, env: { ...trial.env, ...schedule }, start })
    await worker.untilEnded(1)
    await using exporter = await startExporter({ env: trial.env, start })
    await exporter.untilLogged('archive read')
    const scrapes = [await worker.ask('/metrics'), await exporter.ask('/metrics')]
    const shown = scrapes.flatMap(({ text }) => [...text.matchAll(/^# TYPE (\w+)/gm)])
    const known = new Set([...shown.map(([, name]) => name), ...ofKubeStateMetrics])
    const asked = questions.flatMap((text) => text.match(/\b(dashkeep|kube)_\w+/g) ?? [])
    expect(asked.length).toBeGreaterThan(40)
    expect(asked.filter((name) => !known.has(name))).toEqual([])
    const recorded = rules.flatMap(({ record }) => record ?? [])
    const read = expressions.flatMap((expr) => expr.match(/\bdashkeep:[\w:]+/g) ?? [])
    expect(new Set(read)).toEqual(new Set(recorded))
  })

  it('say how bad it is, what happened and what to do', () => {
    for (const { alert, labels, annotations } of alerts) {
      expect(alert).toMatch(/^Dashkeep[A-Z]\w+$/)
      expect(['warning', 'critical']).toContain(labels.severity)
      expect(annotations.summary).not.toBe('')
      expect(annotations.description).toMatch(/`|log/)
    }
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length)
  })

  it('have panels that do not lie over each other, and variables that are there', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)} ${y + Math.floor(cell / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
    const names = templating.list.map(({ name }) => `$${name}`)
    const used = expressions.flatMap((expr) => expr.match(/\$(?!labels|value)[a-z_]+/g) ?? [])
    expect(used.filter((name) => ![...names, '$__rate_interval'].includes(name))).toEqual([])
  })

  it.skipIf(!promtool)('are understood by Prometheus', async () => {
    expect(await runPromtool('check', 'rules', 'rules.yaml')).toContain(
      `${rules.length} rules found`,
    )
    expect(await runPromtool('check', 'rules', 'dashboard.yaml')).toContain('rules found')
  })

  it('are each expected to fire in a scenario', () => {
    const firing = scenarios.flatMap(({ fires }) => Object.values(fires).flat())
    const names = new Set(firing.map((alert) => readAlert(alert).alertname))
    expect(alerts.map(({ alert }) => alert).filter((name) => !names.has(name))).toEqual([])
  })

  it.skipIf(!promtool)(
    'fire when they should, and no other one does',
    { timeout: 180_000 },
    async () => {
      expect(await runPromtool('test', 'rules', 'alerts.yaml')).toContain('SUCCESS')
    },
  )

  it.skipIf(!promtool)('fire for an exporter that is killed during each read', async () => {
    expect(await runPromtool('test', 'rules', 'minutes.yaml')).toContain('SUCCESS')
  })
})
