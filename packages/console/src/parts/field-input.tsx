import { useId, useState } from 'preact/hooks'
import { ask } from '../api.ts'
import { fromLocalInput, labelOf, localInput } from '../format.ts'
import { type Field, isEntity, type Json, nouns, type Page, titleOf } from '../schema.ts'
import { useAnswer, useCalm } from '../use.ts'

export interface InputProps {
  readonly id: string
  readonly field: Field
  readonly value: Json | undefined
  readonly onChange: (value: Json) => void
  /** For a grid, where the column's head is the label. */
  readonly label?: string
}

const LONG = /description|notes|body|content|message|summary|reason/i

/** The input that suits a field. An empty one gives null. */
export function FieldInput({ id, field, value, onChange, label }: InputProps) {
  const common = { id, name: field.name, 'aria-label': label, required: field.required && !label }
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  const give = (event: Event) => onChange((event.currentTarget as HTMLInputElement).value || null)
  if (field.kind === 'forward') return <RelationInput {...{ id, field, value, onChange }} label={label ?? ''} />
  if (field.kind === 'json' || (field.list && field.kind !== 'string' && field.kind !== 'enum')) {
    return <JsonInput {...{ id, field, value, onChange }} label={label ?? ''} />
  }
  if (field.list) {
    const words = Array.isArray(value) ? value.join(', ') : ''
    const split = (event: Event) => onChange(wordsOf((event.currentTarget as HTMLInputElement).value))
    return <input {...common} type="text" placeholder="several, with commas" defaultValue={words} onChange={split} />
  }
  switch (field.kind) {
    case 'enum':
      return (
        <select {...common} value={text} onChange={give}>
          <option value="">—</option>
          {field.values?.map((word) => (
            <option key={word} value={word}>
              {labelOf(word)}
            </option>
          ))}
        </select>
      )
    case 'boolean':
      return (
        <select
          {...common}
          value={value === true ? 'true' : value === false ? 'false' : ''}
          onChange={(event) => onChange(event.currentTarget.value === '' ? null : event.currentTarget.value === 'true')}
        >
          <option value="">—</option>
          <option value="true">Yes</option>
          <option value="false">No</option>
        </select>
      )
    case 'number': {
      const number = (event: Event) => {
        const written = (event.currentTarget as HTMLInputElement).value
        onChange(written === '' ? null : Number(written))
      }
      return <input {...common} type="number" step="any" value={text} onInput={number} />
    }
    case 'date':
      return <input {...common} type="date" value={text.slice(0, 10)} onInput={give} />
    case 'datetime': {
      const moment = (event: Event) => onChange(fromLocalInput((event.currentTarget as HTMLInputElement).value))
      return <input {...common} type="datetime-local" step="1" value={localInput(text)} onInput={moment} />
    }
    default:
      if (LONG.test(field.name) && !label) return <textarea {...common} rows={3} value={text} onInput={give} />
      return <input {...common} type="text" value={text} autocomplete="off" onInput={give} />
  }
}

function wordsOf(text: string): Json {
  const words = text
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean)
  return words.length === 0 ? null : words
}

function JsonInput({ id, field, value, onChange, label }: InputProps) {
  const [text, setText] = useState(value === undefined || value === null ? '' : JSON.stringify(value, null, 2))
  const write = (event: Event) => {
    const area = event.currentTarget as HTMLTextAreaElement
    setText(area.value)
    try {
      onChange(area.value.trim() === '' ? null : JSON.parse(area.value))
      area.setCustomValidity('')
    } catch {
      area.setCustomValidity('This is not JSON yet.')
    }
  }
  const props = { id, name: field.name, 'aria-label': label || undefined, spellcheck: false }
  return <textarea {...props} class="code" rows={label ? 1 : 3} value={text} placeholder="JSON" onInput={write} />
}

/** The id of another entity, with a list of those that fit what is written. */
function RelationInput({ id, field, value, onChange, label }: InputProps) {
  const list = useId()
  const [written, setWritten] = useState(idsOf(value))
  const word = useCalm(written.split(',').at(-1)?.trim() ?? '', 200)
  const target = field.target ?? ''
  const found = useAnswer<Page>(
    (signal) => {
      const text = /^[\p{L}\p{N} ]+$/u.test(word) ? JSON.stringify({ $text: word }) : undefined
      return ask('GET', `/${target}`, { query: { limit: 12, filter: text, total: false }, signal })
    },
    [target, word],
  )
  const write = (event: Event) => {
    const text = (event.currentTarget as HTMLInputElement).value
    setWritten(text)
    const ids = wordsOf(text) as string[] | null
    onChange(field.list ? ids : (ids?.[0] ?? null))
  }
  return (
    <>
      <input
        id={id}
        name={field.name}
        aria-label={label || undefined}
        list={list}
        value={written}
        required={field.required && !label}
        placeholder="Find by name, or an id"
        autocomplete="off"
        onInput={write}
      />
      <datalist id={list}>
        {found.value?.results.map((entity) => (
          <option key={entity.$id} value={entity.$id}>
            {titleOf(entity, nouns.value.get(target))}
          </option>
        ))}
      </datalist>
    </>
  )
}

/** The id, or ids, in a value that may hold embedded entities. */
export function idsOf(value: Json | undefined): string {
  const list = Array.isArray(value) ? value : value === null || value === undefined ? [] : [value]
  return list.map((one) => (isEntity(one) ? one.$id : String(one))).join(', ')
}
