import type { Json } from '@tildebase/nouns'
import { useState } from 'preact/hooks'
import { mayChange } from '../access.ts'
import { useData } from '../cache.ts'
import type { Entity } from '../entity.ts'
import { compactText, isMoney, labelOf, moneyText, numberText } from '../format.ts'
import { type Noun, plural, verbsFor, wordsOf } from '../noun.ts'
import { saveFields } from '../parts/save.ts'
import { State, Value } from '../parts/value.tsx'
import { runVerb, verbItems } from '../parts/verbs.tsx'
import { href } from '../place.ts'
import { type Page, titleOf } from '../schema.ts'
import { request } from '../service.ts'
import { say, sayError } from '../toast.ts'
import { Icon } from '../ui/icon.tsx'
import { Menu, type MenuItem } from '../ui/menu.tsx'
import { Failure, Skeleton } from '../ui/states.tsx'
import { hasMoves, moveTo, reachable } from './moves.ts'
import type { Question } from './question.ts'

const CARDS = 40

interface Column {
  readonly word: string
  readonly cards: readonly Entity[]
  readonly count: number
  readonly sum: number | null
  readonly currency: Json
}

/** Entities as cards, in a column for each value of a field. Moving a card runs the verb that leads there. */
export function Board({ question, field, fields }: { question: Question; field: string; fields: readonly string[] }) {
  const { noun } = question
  const [dragged, setDragged] = useState<Entity | null>(null)
  const money = Object.values(noun.fields).find(({ kind, name }) => kind === 'number' && isMoney(name))?.name ?? null
  const columns = useData<Column[]>(
    ['board', noun.name, field, question.filter, question.sort, question.include, question.time],
    (signal) => loadColumns(question, field, money, signal),
    { types: question.time === null ? [noun.name] : [] },
  )
  if (!columns.value) return columns.error ? <Failure error={columns.error} onRetry={columns.reload} /> : <Skeleton />
  const targets = dragged ? new Set([...reachable(noun, dragged, field), String(dragged[field])]) : null
  return (
    <>
      <Failure error={columns.error} onRetry={columns.reload} />
      <section class="board" aria-label={`${labelOf(noun.path)} by ${labelOf(field).toLowerCase()}`}>
        {columns.value.map((column) => (
          <section
            key={column.word}
            class={`board-column${targets ? (targets.has(column.word) ? ' target' : ' refused') : ''}`}
            aria-label={labelOf(column.word)}
            onDragOver={(event) => event.preventDefault()}
            onDrop={(event) => {
              event.preventDefault()
              if (dragged) void move(noun, dragged, field, column.word)
              setDragged(null)
            }}
          >
            <header>
              <State value={column.word} values={wordsOf(noun.fields[field])} />
              <span class="count">{numberText(column.count)}</span>
              {column.sum !== null && column.sum > 0 && (
                <span class="sum">
                  {column.currency ? moneyText(column.sum, column.currency) : compactText(column.sum)}
                </span>
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
                  onDrag={setDragged}
                />
              ))}
            </ul>
            {column.count > column.cards.length && (
              <a
                class="more"
                href={href([noun.name], { filter: JSON.stringify({ ...question.filter, [field]: column.word }) })}
              >
                {numberText(column.count - column.cards.length)} more {plural(noun)}
              </a>
            )}
          </section>
        ))}
      </section>
    </>
  )
}

function Card(props: {
  noun: Noun
  entity: Entity
  field: string
  fields: readonly string[]
  isDragged: boolean
  onDrag: (entity: Entity | null) => void
}) {
  const { noun, entity, field } = props
  const changes = mayChange(noun)
  const moves: MenuItem[] = reachable(noun, entity, field).map((word, at) => ({
    label: labelOf(word),
    ...(at === 0 && { section: 'Move to' }),
    onSelect: () => move(noun, entity, field, word),
  }))
  const others = verbItems(noun, entity, true)
  const items = [...moves, ...others.map((item, at) => (at === 0 ? { ...item, section: 'Do' } : item))]
  const shown = props.fields.filter(
    (name) => name !== field && !name.startsWith('$') && entity[name] !== null && entity[name] !== undefined,
  )
  return (
    <li
      class={`card${props.isDragged ? ' dragged' : ''}`}
      draggable={changes}
      onDragStart={(event) => {
        event.dataTransfer?.setData('text/plain', titleOf(entity, noun))
        props.onDrag(entity)
      }}
      onDragEnd={() => props.onDrag(null)}
    >
      <div class="card-head">
        <a class="title" href={href([noun.name, entity.$id])}>
          {titleOf(entity, noun)}
        </a>
        {changes && (
          <Menu
            class="quiet icon-only"
            label={<Icon name="more" />}
            name={`Actions for ${titleOf(entity, noun)}`}
            items={items}
          />
        )}
      </div>
      {shown.slice(1, 5).map((name) => (
        <div class="card-fact" key={name} title={labelOf(name)}>
          <span class="unseen">{labelOf(name)}: </span>
          <Value value={entity[name]} field={noun.fields[name]} name={name} entity={entity} />
        </div>
      ))}
    </li>
  )
}

/** Moves an entity to another value of a field: by a verb where the type has verbs for that. */
async function move(noun: Noun, entity: Entity, field: string, target: string): Promise<void> {
  if (entity[field] === target) return
  const found = moveTo(noun, entity, field, target)
  if (found) return void (await runVerb(noun, entity, found.verb, found.args))
  const change = () => saveFields(noun, entity, { [field]: target }).catch(sayError)
  if (!hasMoves(noun, field)) return void (await change())
  const from = labelOf(String(entity[field]))
  const ways = verbsFor(noun, entity).filter(({ set }) => set !== undefined && field in set)
  const names = ways.map(({ name }) => labelOf(name)).join(', ')
  say(
    `No verb leads from ${from} to ${labelOf(target)}.${names ? ` From ${from} there ${ways.length === 1 ? 'is' : 'are'}: ${names}.` : ''}`,
    { tone: 'bad', action: noun.verbs.update ? { label: 'Change the field', run: change } : null },
  )
}

async function loadColumns(
  { noun, filter, sort, include, time }: Question,
  field: string,
  money: string | null,
  signal: AbortSignal,
): Promise<Column[]> {
  const words = wordsOf(noun.fields[field])
  const asOf = time ?? undefined
  const both = (word: string) =>
    Object.keys(filter).length === 0 ? { [field]: word } : { $and: [filter, { [field]: word }] }
  const operations = [
    {
      id: 'counts',
      method: 'GET',
      path: `/${noun.name}/aggregate`,
      query: {
        group: field,
        sum: money ?? undefined,
        filter: Object.keys(filter).length === 0 ? undefined : filter,
        asOf,
      },
    },
    ...words.map((word) => ({
      id: word,
      method: 'GET',
      path: `/${noun.name}`,
      query: {
        filter: both(word),
        sort: sort ?? '-$updatedAt',
        include: include.join(',') || undefined,
        limit: CARDS,
        total: false,
        asOf,
      },
    })),
  ]
  const { results } = await request<{ results: { status: number; body: unknown }[] }>('POST', '/batch', {
    body: { operations },
    signal,
  })
  const counted = results[0]?.body as { results?: { [name: string]: Json }[] } | undefined
  const groups = counted?.results ?? []
  return words.map((word, at) => {
    const group = groups.find((one) => one[field] === word)
    const cards = (results[at + 1]?.body as Page | undefined)?.results ?? []
    const currencies = new Set(cards.map(({ currency }) => currency ?? null))
    return {
      word,
      cards,
      count: Number(group?.count ?? 0),
      sum: money === null ? null : Number((group?.sum as { [name: string]: number } | undefined)?.[money] ?? 0),
      currency: currencies.size === 1 ? [...currencies][0]! : null,
    }
  })
}
