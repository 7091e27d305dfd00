import type { Fields, Host } from './bridge.ts'
import { button, element, render, textOf } from './elements.ts'

/** A changeset with what it would change. */
export interface ReviewedChangeset extends Fields {
  readonly $id: string
  readonly title: string
  readonly state: string
  readonly url?: string
  readonly reason?: string
  readonly reviewer?: string
  readonly diff?: readonly Difference[]
  readonly conflicts?: readonly { readonly type: string; readonly id: string; readonly reason: string }[]
  readonly messages?: readonly { readonly message: string }[]
}

interface Difference {
  readonly type: string
  readonly id: string
  readonly verb: string
  readonly changes: { readonly [field: string]: { readonly from: unknown; readonly to: unknown } }
}

/** Shows a changeset as a diff. The decision is made on a page of the service, by the person who is signed in there. */
export function showReview(host: Host, changeset: ReviewedChangeset): void {
  const { $id, title, state, url, reason, reviewer, diff = [], conflicts = [], messages = [] } = changeset
  const isOpen = state === 'Open'
  const refresh = async () => {
    const { structuredContent } = await host.call('fetch', { type: 'Changeset', id: $id })
    if (structuredContent) showReview(host, { ...changeset, ...structuredContent } as ReviewedChangeset)
  }
  render(
    element('h1', {}, title),
    reason !== undefined && element('p', {}, reason),
    !isOpen && element('p', {}, `${state}${reviewer === undefined ? '' : ` by ${reviewer}`}.`),
    ...diff.map(differenceTable),
    ...conflicts.map(({ type, id, reason: why }) => element('p', { class: 'bad' }, `${type} ${id}: ${why}`)),
    ...messages.map(({ message }) => element('p', { class: 'bad' }, message)),
    element(
      'div',
      { class: 'actions' },
      isOpen && url !== undefined && button('Approve…', () => host.open(url), { class: 'primary' }),
      isOpen && url !== undefined && button('Reject…', () => host.open(url)),
      isOpen && button('Check again', refresh),
    ),
    isOpen && element('p', { class: 'soft' }, 'You decide on a page of the service, where you sign in.'),
  )
}

function differenceTable({ type, id, verb, changes }: Difference): HTMLElement {
  const head = ['Field', 'Now', 'After approval'].map((name) => element('th', { scope: 'col' }, name))
  const rows = Object.entries(changes).map(([field, { from, to }]) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, field),
      element('td', {}, element('del', {}, wholeText(from))),
      element('td', {}, element('ins', {}, wholeText(to))),
    ),
  )
  const caption = element('caption', {}, `${verb} ${type} `, element('span', { class: 'soft' }, id))
  return element(
    'div',
    { class: 'wide' },
    element('table', {}, caption, element('thead', {}, element('tr', {}, ...head)), element('tbody', {}, ...rows)),
  )
}

/** A value in full: a person decides about all of it. */
function wholeText(value: unknown): string {
  return textOf(value, Number.POSITIVE_INFINITY)
}
