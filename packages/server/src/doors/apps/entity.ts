import { connect, type Fields, type Host, say, type ToolResult } from './bridge.ts'
import { element, fieldTable, render, timeOf } from './elements.ts'
import { type ReviewedChangeset, showReview } from './review.ts'

/** A version of the entity, as its history has it. */
interface Version {
  readonly seq: number
  readonly at: string
  readonly verb: string
  readonly actor: string
}

/** The page of `fetch`: an entity with its history, a changeset as a diff, and anything else as fields. */
connect('entity', (host, result, input) => {
  const { structuredContent, content = [], isError, _meta = {} } = result
  if (isError || !structuredContent) return render(element('p', { class: 'bad' }, content[0]?.text ?? ''))
  if (structuredContent.$type === 'Changeset') {
    const url = _meta['tildebase/url'] as string | undefined
    return showReview(host, { ...structuredContent, ...(url !== undefined && { url }) } as unknown as ReviewedChangeset)
  }
  show(host, result, input)
})

function show(host: Host, { structuredContent = {}, _meta = {} }: ToolResult, input: Fields): void {
  const versions = (_meta['tildebase/history'] as readonly Version[] | undefined) ?? []
  const view = element('div', { class: 'wide' }, fieldTable('Fields', structuredContent))
  render(
    element('h1', {}, titleOf(structuredContent, input)),
    versions.length > 1 && slider(host, versions, input, view),
    view,
    versions.length > 0 && historyTable(versions),
  )
}

/** Moves through the past: each step is a version, read again as it was. */
function slider(host: Host, versions: readonly Version[], input: Fields, view: HTMLElement): HTMLElement {
  const last = versions.length - 1
  const output = element('output', {}, wordsOf(versions[last]!))
  const range = element('input', {
    type: 'range',
    id: 'moment',
    min: '0',
    max: String(last),
    value: String(last),
    'aria-valuetext': wordsOf(versions[last]!),
  }) as HTMLInputElement
  let asked = 0
  range.addEventListener('input', async () => {
    const version = versions[Number(range.value)]!
    const number = ++asked
    output.textContent = wordsOf(version)
    range.setAttribute('aria-valuetext', wordsOf(version))
    try {
      const { structuredContent } = await host.call('fetch', {
        type: input.type,
        id: input.id,
        asOf: String(version.seq),
      })
      // An answer that is overtaken by a later one is not shown.
      if (number === asked && structuredContent) view.replaceChildren(fieldTable('Fields', structuredContent))
    } catch (reason) {
      say((reason as Error).message)
    }
  })
  return element('p', {}, element('label', { for: 'moment' }, 'Moment: '), output, range)
}

function historyTable(versions: readonly Version[]): HTMLElement {
  const rows = versions
    .toReversed()
    .map(({ at, verb, actor }) =>
      element('tr', {}, element('th', { scope: 'row' }, verb), element('td', {}, timeOf(at)), element('td', {}, actor)),
    )
  const head = ['Verb', 'Time', 'By'].map((name) => element('th', { scope: 'col' }, name))
  return element(
    'table',
    {},
    element('caption', {}, 'History'),
    element('thead', {}, element('tr', {}, ...head)),
    element('tbody', {}, ...rows),
  )
}

function titleOf(fields: Fields, input: Fields): string {
  const name = fields.name ?? fields.title ?? fields.$id ?? input.id
  return typeof name === 'string' ? name : String(input.type ?? 'Entity')
}

function wordsOf({ at, verb }: Version): string {
  return `${timeOf(at)}, ${verb}`
}
