import '../../../style/pages/board.css'
import { useRef, useState } from 'preact/hooks'
import { ChoicesDialog } from '../../choices/choices-dialog.tsx'
import { CreateDialog } from '../../parts/forms/create.tsx'
import { State } from '../../parts/value.tsx'
import { asOf, href } from '../../place.ts'
import { mayChange, mayDeclare } from '../../service/access.ts'
import { useData } from '../../service/cache.ts'
import { titleOf } from '../../service/schema.ts'
import { t } from '../../texts/text.ts'
import { Icon } from '../../ui/icon.tsx'
import { Failure, Skeleton } from '../../ui/states.tsx'
import type { Entity } from '../../values/entity.ts'
import { inSentence, isMoney, labelOf, numberText, sumsText } from '../../values/format.ts'
import { forCreation, isWritable, plural, singular, wordsOf } from '../../values/noun.ts'
import type { Question } from '../question.ts'
import { Card, move } from './board-card.tsx'
import { type Column, loadColumns } from './board-data.ts'
import { type Drag, followDrag, isDragging } from './drag.ts'
import { reachable } from './moves.ts'

/** Entities as cards, in a column for each value of a field. Moving a card runs the verb that leads there. */
export function Board({ question, field, fields }: { question: Question; field: string; fields: readonly string[] }) {
  const { noun } = question
  const [dragged, setDragged] = useState<Entity | null>(null)
  const [over, setOver] = useState<string | null>(null)
  const [creating, setCreating] = useState<string | null>(null)
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set())
  const [isChoosing, setChoosing] = useState(false)
  const box = useRef<HTMLElement>(null)
  const ghost = useRef<HTMLDivElement>(null)
  const place = useRef({ x: 0, y: 0 })
  const money = Object.values(noun.fields).find(({ kind, name }) => kind === 'number' && isMoney(name))?.name ?? null
  const columns = useData<Column[]>(
    [
      'board',
      noun.name,
      field,
      wordsOf(noun.fields[field]),
      question.filter,
      question.sort,
      question.include,
      question.time,
    ],
    (signal) => loadColumns(question, field, money, signal),
    { types: question.time === null ? [noun.name] : [] },
  )
  if (!columns.value) return columns.error ? <Failure error={columns.error} onRetry={columns.reload} /> : <Skeleton />
  const put = () => {
    const { x, y } = place.current
    if (ghost.current) ghost.current.style.transform = `translate(${x + 8}px, ${y + 8}px)`
  }
  const dragOf = (entity: Entity): Drag => ({
    onStart: () => setDragged(entity),
    onMove: (x, y) => {
      place.current = { x, y }
      put()
      setOver(wordAt(document.elementFromPoint(x, y)))
    },
    onEnd: (element) => {
      const word = wordAt(element)
      setDragged(null)
      setOver(null)
      if (word !== null) void move(noun, entity, field, word)
    },
  })
  const state = noun.fields[field]
  const creates = mayChange(noun) && noun.verbs.create !== undefined && isWritable(state)
  const starts = creates ? wordsOf(forCreation(noun, state)) : []
  const targets = dragged ? new Set([...reachable(noun, dragged, field), String(dragged[field])]) : null
  return (
    <>
      <Failure error={columns.error} onRetry={columns.reload} />
      <section
        class="board"
        aria-label={t('{} by {}', labelOf(noun.path), inSentence(field))}
        ref={box}
        // A finger that moves a card must not scroll, too.
        onTouchMove={(event) => isDragging() && event.cancelable && event.preventDefault()}
      >
        {columns.value.map((column) => (
          <section
            key={column.word}
            class={`board-column${targets ? (targets.has(column.word) ? ' target' : ' refused') : ''}${over === column.word ? ' over' : ''}${folded.has(column.word) ? ' folded' : ''}`}
            aria-label={labelOf(column.word)}
            data-word={column.word}
          >
            <header>
              <button
                type="button"
                class="quiet icon-only"
                aria-expanded={!folded.has(column.word)}
                aria-label={t('Show {}', labelOf(column.word))}
                onClick={() => setFolded(toggled(folded, column.word))}
              >
                <Icon name={folded.has(column.word) ? 'right' : 'down'} />
              </button>
              <State value={column.word} values={wordsOf(noun.fields[field])} />
              <span class="count">{numberText(column.count)}</span>
              {column.sums?.some(({ sum }) => sum > 0) && <span class="sum">{sumsText(column.sums)}</span>}
              {starts.includes(column.word) && (
                <button
                  type="button"
                  class="quiet icon-only add"
                  aria-label={t('New {} in {}', singular(noun), labelOf(column.word))}
                  onClick={() => setCreating(column.word)}
                >
                  <Icon name="plus" />
                </button>
              )}
            </header>
            <ul>
              {column.cards.map((entity) => (
                <Card
                  key={entity.$id}
                  noun={noun}
                  entity={entity}
                  field={field}
                  fields={fields}
                  isDragged={dragged?.$id === entity.$id}
                  onPress={(event) => followDrag(event, () => box.current, dragOf(entity))}
                />
              ))}
            </ul>
            {column.count > column.cards.length && (
              <a
                class="more"
                href={href([noun.name], {
                  filter: JSON.stringify({ ...question.filter, [field]: column.word }),
                  ...(question.sort !== null && { sort: question.sort }),
                })}
              >
                {t('{} more {}', numberText(column.count - column.cards.length), plural(noun))}
              </a>
            )}
          </section>
        ))}
        {asOf.value === null && mayDeclare() && (
          <button type="button" class="quiet add-column" onClick={() => setChoosing(true)}>
            <Icon name="plus" /> {labelOf(field)}
          </button>
        )}
      </section>
      {creating !== null && (
        <CreateDialog noun={noun} preset={{ [field]: creating }} onClose={() => setCreating(null)} />
      )}
      {isChoosing && <ChoicesDialog noun={noun} field={field} onClose={() => setChoosing(false)} />}
      {dragged && (
        <div
          class="card ghost"
          aria-hidden="true"
          ref={(element) => {
            ghost.current = element
            put()
          }}
        >
          {titleOf(dragged, noun)}
        </div>
      )}
    </>
  )
}

function toggled(words: ReadonlySet<string>, word: string): ReadonlySet<string> {
  return words.has(word) ? new Set([...words].filter((one) => one !== word)) : new Set([...words, word])
}

/** The value of the column that an element is in. */
function wordAt(element: Element | null): string | null {
  return element?.closest<HTMLElement>('.board-column')?.dataset.word ?? null
}
