import type { AccountSeed } from './options.ts'

/** A hit in the form of the specification ("Export result"). */
interface SampleHit {
  _index: string
  _type: string
  _id: string
  _score: number
  _source: { type: string } & Record<string, unknown>
}

/** The API token of the sample account. */
export const sampleApiToken = 'sandbox-token'

/** The API token of the sample account's one sub account. */
export const sampleSubAccountToken = 'sandbox-staging-token'

/**
 * The default account of a sandbox: a web shop with its logs, a sub account for staging, and capacity
 * for more.
 */
export function sampleAccount(): AccountSeed {
  const objects = sampleObjects()
  return {
    accountId: 100001,
    accountName: 'Shop',
    apiTokens: [sampleApiToken],
    kibanaVersion: '7.10.2',
    planGb: 40,
    adminEmails: ['admin@shop.example'],
    objects: { documents: { ...objects } },
    subAccounts: [
      {
        accountId: 100002,
        accountName: 'Shop staging',
        apiTokens: [sampleSubAccountToken],
        settings: { maxDailyGB: 5, retentionDays: 7, searchable: true, accessible: true },
        objects: { documents: { search: objects.search.slice(0, 1) } },
      },
    ],
  }
}

/** The sample account's objects. A new copy with each call, so that a demo can change them. */
export function sampleObjects(): Record<'search' | 'visualization' | 'dashboard', SampleHit[]> {
  return { search: searches(), visualization: visualizations(), dashboard: dashboards() }
}

function searches(): SampleHit[] {
  return [
    search('failed-orders', {
      title: 'Failed orders',
      description: 'Orders that could not be placed, newest first',
      columns: ['order.id', 'order.total', 'error.code', 'message'],
      query: 'service:orders AND level:error',
    }),
    search('slow-requests', {
      title: 'Slow requests',
      description: 'Answers that took the shop two seconds or more',
      columns: ['http.path', 'http.status', 'duration_ms', 'host'],
      query: 'service:web AND duration_ms:>=2000',
    }),
    search('declined-payments', {
      title: 'Declined payments',
      description: 'What the payment provider said no to, and why',
      columns: ['payment.method', 'payment.reason', 'order.total'],
      query: 'service:payments AND payment.state:declined',
    }),
    search('admin-logins', {
      title: 'Logins of the staff',
      description: '',
      columns: ['user.name', 'source.ip', 'outcome'],
      query: 'service:backoffice AND event:login',
    }),
  ]
}

function visualizations(): SampleHit[] {
  return [
    visualization('orders-per-hour', {
      title: 'Orders per hour',
      chart: 'histogram',
      description: 'Placed orders, by the hour they were placed in',
      aggs: [count(), overTime('1h')],
    }),
    visualization('failed-orders-by-code', {
      title: 'Failed orders by error code',
      chart: 'pie',
      description: '',
      search: 'failed-orders',
      aggs: [count(), topTerms('error.code', 8)],
    }),
    visualization('response-time', {
      title: 'Response time, 50th and 95th percentile',
      chart: 'line',
      description: 'What customers wait for a page',
      aggs: [metric('percentiles', { field: 'duration_ms', percents: [50, 95] }), overTime('auto')],
    }),
    visualization('slowest-pages', {
      title: 'Slowest pages',
      chart: 'table',
      description: '',
      search: 'slow-requests',
      aggs: [metric('avg', { field: 'duration_ms' }), topTerms('http.path', 15)],
    }),
    visualization('declined-by-reason', {
      title: 'Declined payments by reason',
      chart: 'horizontal_bar',
      description: 'Talk to the provider when “do_not_honor” passes a fifth',
      search: 'declined-payments',
      aggs: [count(), topTerms('payment.reason', 10)],
    }),
    visualization('turnover', {
      title: 'Turnover (€)',
      chart: 'metric',
      description: 'Sum of all placed orders',
      aggs: [metric('sum', { field: 'order.total' })],
    }),
    visualization('logins-by-country', {
      title: 'Staff logins by country',
      chart: 'tagcloud',
      description: '',
      search: 'admin-logins',
      aggs: [count(), topTerms('source.country', 20)],
    }),
  ]
}

function dashboards(): SampleHit[] {
  return [
    dashboard('shop-overview', {
      title: 'Shop overview',
      description: 'The screen on the office wall',
      panels: ['turnover', 'orders-per-hour', 'response-time', 'failed-orders-by-code'],
    }),
    dashboard('payments', {
      title: 'Payments',
      description: 'For the weekly call with the payment provider',
      panels: ['declined-by-reason', 'turnover'],
      search: 'declined-payments',
    }),
    dashboard('on-call', {
      title: 'On call: what to look at first',
      description: '',
      panels: ['response-time', 'slowest-pages', 'failed-orders-by-code', 'logins-by-country'],
      search: 'slow-requests',
    }),
  ]
}

function search(
  id: string,
  object: { title: string; description: string; columns: string[]; query: string },
): SampleHit {
  return hit('search', id, {
    title: object.title,
    description: object.description,
    hits: 0,
    columns: object.columns,
    sort: ['@timestamp', 'desc'],
    version: 1,
    kibanaSavedObjectMeta: searchSource({
      index: 'shop-*',
      query: { query_string: { query: object.query, analyze_wildcard: true } },
      filter: [],
    }),
  })
}

function visualization(
  id: string,
  object: { title: string; chart: string; description: string; search?: string; aggs: object[] },
): SampleHit {
  const { title, chart: type } = object
  const aggs = object.aggs.map((agg, index) => ({ id: String(index + 1), enabled: true, ...agg }))
  return hit('visualization', id, {
    title,
    visState: JSON.stringify({ title, type, params: { addTooltip: true, addLegend: true }, aggs }),
    description: object.description,
    savedSearchId: object.search ?? '',
    version: 1,
    kibanaSavedObjectMeta: searchSource({ query: { match_all: {} }, filter: [] }),
  })
}

function dashboard(
  id: string,
  object: { title: string; description: string; panels: string[]; search?: string },
): SampleHit {
  const visualizationPanels = object.panels.map((panel) => ({ type: 'visualization', id: panel }))
  const searchPanels = object.search === undefined ? [] : [{ type: 'search', id: object.search }]
  const panels = [...visualizationPanels, ...searchPanels].map((panel, index) => ({
    panelIndex: index + 1,
    ...panel,
    col: (index % 2) * 6 + 1,
    row: Math.floor(index / 2) * 4 + 1,
    size_x: 6,
    size_y: 4,
  }))
  return hit('dashboard', id, {
    title: object.title,
    description: object.description,
    hits: 0,
    timeRestore: false,
    version: 1,
    panelsJSON: JSON.stringify(panels),
    kibanaSavedObjectMeta: searchSource({ filter: [{ query: { match_all: {} } }] }),
    _svcOriginalAppId: 100001,
  })
}

function hit(type: string, id: string, object: object): SampleHit {
  return {
    _index: '.kibana_1',
    _type: 'doc',
    _id: `${type}:${id}`,
    _score: 1,
    _source: { type, [type]: object },
  }
}

function searchSource(source: object): object {
  return { searchSourceJSON: JSON.stringify(source) }
}

function count(): object {
  return metric('count', {})
}

function metric(type: string, params: object): object {
  return { type, schema: 'metric', params }
}

function overTime(interval: string): object {
  const params = { field: '@timestamp', interval, min_doc_count: 1 }
  return { type: 'date_histogram', schema: 'segment', params }
}

function topTerms(field: string, size: number): object {
  const params = { field, size, order: 'desc', orderBy: '1' }
  return { type: 'terms', schema: 'segment', params }
}
