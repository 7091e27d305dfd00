import type { Json } from '@tildebase/nouns'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Arrow } from '../parts/arrow.tsx'
import { Value } from '../parts/value.tsx'
import { href } from '../place.ts'
import { useNames } from '../service/names.ts'
import { nouns } from '../service/schema.ts'
import { t } from '../texts/text.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { inSentence, labelOf, shortText } from '../values/format.ts'
import type { Line } from './changeset.ts'
import { useWindow } from './window.ts'

/** The height of a line; the style sheet has the same. */
const LINE = 32
/** So many characters fit into a line beside another value. */
const LONG = 40

interface ReviewListProps {
  readonly lines: readonly Line[]
  /** The line that the keyboard is at. */
  readonly active: number
  readonly chosen: ReadonlySet<number>
  /** Whether operations can be chosen: the changeset is open. */
  readonly canChoose: boolean
  /** The operations that were run, when only a part was approved. */
  readonly approved: readonly number[] | null
  readonly onChoose: (number: number) => void
  readonly onActive: (at: number) => void
}

/** What a changeset would change: drawn are only the lines in sight, however many there are. */
export function ReviewList(props: ReviewListProps) {
  const { lines, active } = props
  const box = useRef<HTMLElement>(null)
  const { first, end, above, below } = useWindow(box, lines.length, LINE)
  const shown = lines.slice(first, end)
  const names = useNames(shown.flatMap((line) => (line.kind === 'entity' ? [line.id] : [])))
  useEffect(() => {
    const element = box.current
    if (!element) return
    const top = active * LINE
    if (top < element.scrollTop) element.scrollTop = top
    else if (top + LINE > element.scrollTop + element.clientHeight)
      element.scrollTop = top + LINE - element.clientHeight
  }, [active])
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it the arrow keys cannot reach what is out of sight
    <section class="scroll review-list" aria-label={t('Changes')} tabIndex={0} ref={box}>
      <div style={{ paddingTop: `${above}px`, paddingBottom: `${below}px` }}>
        {shown.map((line, index) => (
          <LineView
            key={line.key}
            {...props}
            line={line}
            at={first + index}
            name={line.kind === 'entity' ? names.get(line.id) : undefined}
          />
        ))}
      </div>
    </section>
  )
}

type LineProps = ReviewListProps & { readonly line: Line; readonly at: number; readonly name: string | undefined }

function LineView(props: LineProps) {
  const { line, at, active } = props
  const isActive = at === active
  return (
    <div class={`review-line review-${line.kind}${isActive ? ' active' : ''}`} aria-current={isActive || undefined}>
      {line.kind === 'entity' && <EntityLine {...props} line={line} />}
      {line.kind === 'operation' && <OperationLine {...props} line={line} />}
      {line.kind === 'change' && <ChangeLine line={line} />}
    </div>
  )
}

function EntityLine({ line: { type, id, isNew }, name }: LineProps & { line: Line & { kind: 'entity' } }) {
  return (
    <>
      <span class="review-type">{labelOf(type)}</span>
      {isNew ? <strong>{t('New')}</strong> : <a href={href([type, id])}>{name ?? shortText(id, 28)}</a>}
    </>
  )
}

function OperationLine(props: LineProps & { line: Line & { kind: 'operation' } }) {
  const { number, verb, conflicts } = props.line
  const isLeftOut = props.approved !== null && !props.approved.includes(number)
  return (
    <>
      <label>
        <input
          type="checkbox"
          aria-label={t('Change {}: {}', number, labelOf(verb))}
          disabled={!props.canChoose}
          checked={props.approved ? !isLeftOut : props.chosen.has(number)}
          onFocus={() => props.onActive(props.at)}
          onChange={() => props.onChoose(number)}
        />
        <span class="review-number">{number}</span> {labelOf(verb)}
      </label>
      {isLeftOut && <span class="state tone-dim">{t('Left out')}</span>}
      {conflicts.length > 0 && (
        <span class="state tone-bad" title={conflicts.join(' ')}>
          {t('Conflict')}
        </span>
      )}
      {conflicts.length > 0 && <span class="review-reason">{conflicts[0]}</span>}
    </>
  )
}

function ChangeLine({ line: { type, field, from, to, isConflict } }: { line: Line & { kind: 'change' } }) {
  const declared = nouns.value.get(type)?.fields[field]
  const [isWhole, setWhole] = useState(false)
  const side = (value: typeof from) =>
    value === null ? <span class="none">{t('empty')}</span> : <Value value={value} field={declared} name={field} />
  // A text may be cut off. A choice is shown whole, in the reader's language.
  const hint = (value: typeof from) => (declared?.kind === 'string' ? shortText(value, 400) : undefined)
  return (
    <>
      <span class={`review-field${isConflict ? ' wrong' : ''}`} title={field}>
        {labelOf(field)}
      </span>
      {from !== null && <del title={hint(from)}>{side(from)}</del>}
      {from !== null && <Arrow />}
      <ins title={hint(to)}>{side(to)}</ins>
      {[from, to].some(isLong) && (
        <button
          type="button"
          class="quiet icon-only"
          aria-label={t('Show {} whole', inSentence(field))}
          onClick={() => setWhole(true)}
        >
          <Icon name="more" />
        </button>
      )}
      {isWhole && (
        <Dialog title={labelOf(field)} size="wide" onClose={() => setWhole(false)}>
          <div class="whole">
            {from !== null && <del>{wholeText(from)}</del>}
            <ins>{to === null ? t('empty') : wholeText(to)}</ins>
          </div>
        </Dialog>
      )}
    </>
  )
}

/** Whether a line may cut a value. */
function isLong(value: Json): boolean {
  return value !== null && wholeText(value).length > LONG
}

function wholeText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}
