import { effect, signal } from '@preact/signals'
import { Late, Refusal, warnings } from '../api.ts'

interface Note {
  readonly id: number
  readonly text: string
  readonly tone: 'good' | 'bad'
}

const notes = signal<readonly Note[]>([])
let last = 0

/** Tells people in passing what happened. */
export function say(text: string, tone: Note['tone'] = 'good'): void {
  last += 1
  const note = { id: last, text, tone }
  notes.value = [...notes.peek().slice(-3), note]
  setTimeout(() => drop(note.id), tone === 'good' ? 4_000 : 9_000)
}

effect(() => {
  for (const { field, nearest } of warnings.value)
    say(`${field} is neither declared nor stored${nearest === null ? '.' : `; did you mean ${nearest}?`}`, 'bad')
})

/** Tells what went wrong, in the service's own words. */
export function sayError(reason: unknown): void {
  if (reason instanceof Late) return
  say(sentenceOf(reason), 'bad')
}

export function sentenceOf(reason: unknown): string {
  if (!(reason instanceof Error)) return String(reason)
  const more = reason instanceof Refusal ? reason.details.map(detailText) : []
  // The service's message already names the issues of a short list.
  return more.length === 0 || more.every((text) => reason.message.includes(text))
    ? reason.message
    : `${reason.message} ${more.join('; ')}`
}

function detailText({ field, message }: { readonly field?: string; readonly message: string }): string {
  return field ? `${field}: ${message}` : message
}

function drop(id: number): void {
  notes.value = notes.value.filter((note) => note.id !== id)
}

export function Notes() {
  return (
    <div class="notes" role="status" aria-live="polite">
      {notes.value.map(({ id, text, tone }) => (
        <div class={`note ${tone}`} key={id}>
          <span>{text}</span>
          <button type="button" class="quiet" aria-label="Dismiss" onClick={() => drop(id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  )
}
