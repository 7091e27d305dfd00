import { connect, type Fields } from './bridge.ts'
import { element, render } from './elements.ts'
import { type ReviewedChangeset, showReview } from './review.ts'

/** The page of `do`: a proposal with its diff, or the result of the code. */
connect('changeset', (host, { structuredContent = {}, content = [], isError, _meta = {} }) => {
  const { changeset, result, logs } = structuredContent as { changeset?: Fields; result?: unknown; logs?: string[] }
  if (changeset) {
    const review = _meta['tildebase/review'] as Fields | undefined
    return showReview(host, { ...review, ...changeset } as ReviewedChangeset)
  }
  const text = isError ? (content[0]?.text ?? '') : JSON.stringify(result ?? null, null, 2)
  render(
    element('h1', {}, isError ? 'The code failed' : 'Result'),
    element('pre', isError ? { class: 'bad' } : {}, text),
    ...(logs ?? []).map((line) => element('p', { class: 'soft' }, line)),
  )
})
