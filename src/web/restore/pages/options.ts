import { html } from 'hono/html'
import { snapshotPath } from '../../addresses.ts'
import type { Markup } from '../../markup.ts'
import type { FoundSnapshot } from '../../requests.ts'
import { type RestoreRequest, switches } from '../request.ts'

const labels: Record<keyof typeof switches, string> = {
  overwrite: 'Overwrite objects that exist and differ',
  'any-version': 'Restore although the service has another kibanaVersion',
  'allow-suspect': 'Restore although the snapshot is suspect',
}

/** The form that changes what is planned. It sends nothing to the service. */
export function optionsForm({ line }: FoundSnapshot, request: RestoreRequest): Markup {
  const { folder, manifest } = line
  const shown = Object.entries(switches).filter(
    ([name]) => name !== 'allow-suspect' || manifest.suspect !== undefined,
  )
  return html`<form method="get" action="${snapshotPath(folder)}/restore" class="plan-options">
<fieldset><legend>Options</legend>
${objectFields(request)}
<label><input type="checkbox" name="without-references" value="1"${!request.withNeeds && html` checked`}> Leave out the objects that the chosen objects need</label>
${shown.map(([name, member]) => html`<label><input type="checkbox" name="${name}" value="1"${request[member] && html` checked`}> ${labels[name as keyof typeof switches]}</label>`)}
<button class="plain">Plan again</button>
</fieldset>
</form>`
}

function objectFields({ objects }: RestoreRequest): Markup {
  return typeof objects === 'string'
    ? html`<input type="hidden" name="${objects}" value="1">`
    : html`${objects.map((id) => html`<input type="hidden" name="id" value="${id}">`)}`
}
