import type { Field, Json } from '@tildebase/nouns'
import { useState } from 'preact/hooks'
import { lazy } from '../../lazy.tsx'
import { t } from '../../texts/text.ts'
import type { Draft } from '../../values/entity.ts'
import { fromLocalInput, labelOf, localInput } from '../../values/format.ts'
import { targetsOf, wordsOf } from '../../values/noun.ts'
import { toneOf } from '../../values/tones.ts'
import { RelationPicker } from './relation-picker.tsx'

export interface InputProps {
  readonly id: string
  readonly field: Exclude<Field, { kind: 'back' }>
  readonly value: Json | undefined
  readonly onChange: (value: Json) => void
  /** The name of the field, where no label is stored next to it. */
  readonly label?: string
  /** The entity that a relation does not offer. */
  readonly except?: string | undefined
  /** The values of the form around it. */
  readonly beside?: Draft | undefined
}

const FileInput = lazy(
  async () => (await import('../../files/file-input.tsx')).FileInput,
  () => null,
)

const PHONE = /phone|mobile|fax/i
const LONG = /description|notes|body|content|message|summary|reason/i

/** Whether a text is written in a box of several lines. */
export function isLongText(field: Field): boolean {
  return field.kind === 'json' || (field.kind === 'string' && LONG.test(field.name))
}

/** The input that suits a field. An empty one gives null. */
export function FieldInput({ id, field, value, onChange, label, except, beside }: InputProps) {
  const common = { id, name: field.name, 'aria-label': label, required: field.required && !label }
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  const give = (event: Event) => onChange((event.currentTarget as HTMLInputElement).value || null)
  if (field.kind === 'forward') {
    const { list, required } = field
    return (
      <RelationPicker
        {...{ id, label, value, required, except, beside, onChange }}
        targets={targetsOf(field)}
        many={list}
      />
    )
  }
  if (field.kind === 'file') return <FileInput {...{ id, field, value, onChange, label }} />
  if (field.kind === 'json' || (field.list && field.kind !== 'string' && field.kind !== 'enum')) {
    return <JsonInput {...{ id, field, value, onChange }} label={label ?? ''} />
  }
  if (field.list && field.kind === 'enum') {
    const chosen = Array.isArray(value) ? value.map(String) : []
    const toggle = (word: string) => {
      const next = wordsOf(field).filter((one) => chosen.includes(one) !== (one === word))
      onChange(next.length === 0 ? null : next)
    }
    return (
      // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be labelled from outside
      <div id={id} class="tags" role="group" aria-label={label ?? labelOf(field.name)}>
        {wordsOf(field).map((word) => (
          <label key={word} class={`state tone-${toneOf(word, wordsOf(field))}`}>
            <input type="checkbox" checked={chosen.includes(word)} onChange={() => toggle(word)} /> {labelOf(word)}
          </label>
        ))}
      </div>
    )
  }
  if (field.list) {
    const words = Array.isArray(value) ? value.join(', ') : ''
    const split = (event: Event) => onChange(listOf((event.currentTarget as HTMLInputElement).value))
    return (
      <input {...common} type="text" placeholder={t('several, with commas')} defaultValue={words} onChange={split} />
    )
  }
  switch (field.kind) {
    case 'enum':
      return (
        <select {...common} value={text} onChange={give}>
          <option value="">—</option>
          {wordsOf(field).map((word) => (
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
          <option value="true">{t('Yes')}</option>
          <option value="false">{t('No')}</option>
        </select>
      )
    case 'number': {
      const number = (event: Event) => {
        const written = (event.currentTarget as HTMLInputElement).value
        onChange(written === '' ? null : Number(written))
      }
      const { min, max } = field
      return <input {...common} type="number" step="any" min={min} max={max} value={text} onInput={number} />
    }
    case 'date':
      return <input {...common} type="date" value={text.slice(0, 10)} onInput={give} />
    case 'datetime': {
      const moment = (event: Event) => onChange(fromLocalInput((event.currentTarget as HTMLInputElement).value))
      return <input {...common} type="datetime-local" step="1" value={localInput(text)} onInput={moment} />
    }
    default:
      if (LONG.test(field.name) && !label) return <textarea {...common} rows={3} value={text} onInput={give} />
      if (PHONE.test(field.name)) return <input {...common} type="tel" value={text} autocomplete="off" onInput={give} />
      return <input {...common} type="text" value={text} autocomplete="off" onInput={give} />
  }
}

function listOf(text: string): Json {
  const words = text
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean)
  return words.length === 0 ? null : words
}

function JsonInput({ id, field, value, onChange, label }: InputProps) {
  const [text, setText] = useState(value === undefined || value === null ? '' : JSON.stringify(value, null, 2))
  const change = (event: Event) => {
    const area = event.currentTarget as HTMLTextAreaElement
    setText(area.value)
    try {
      onChange(area.value.trim() === '' ? null : JSON.parse(area.value))
      area.setCustomValidity('')
    } catch {
      area.setCustomValidity(t('This is not JSON yet.'))
    }
  }
  const props = { id, name: field.name, 'aria-label': label || undefined, spellcheck: false }
  return <textarea {...props} class="code" rows={label ? 1 : 3} value={text} placeholder="JSON" onInput={change} />
}
