import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { may, mayChange } from '../access.ts'
import { useData, useSettled } from '../cache.ts'
import type { Entity } from '../entity.ts'
import { labelOf } from '../format.ts'
import { useKeys } from '../keyboard.ts'
import { plural, singular, titleRelations } from '../noun.ts'
import { asOf, go, travel } from '../place.ts'
import { recent } from '../recent.ts'
import { nouns, type Page, titleOf } from '../schema.ts'
import { request } from '../service.ts'
import { leave } from '../session.ts'
import { Icon, type IconName } from '../ui/icon.tsx'
import { HIDDEN_TYPES, SETUP_PAGES, WORK_PAGES } from './side.tsx'

interface Entry {
  readonly id: string
  readonly section: string
  readonly label: string
  readonly hint?: string
  readonly icon: IconName
  run(): void
}

const DAY = 86_400_000

/** Search across all types, commands and what was opened last, behind Ctrl K. */
export function Palette({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const list = useId()
  const [words, setWords] = useState('')
  const [active, setActive] = useState(0)
  const settled = useSettled(words.trim(), 120)
  const found = useData<readonly Entity[]>(
    ['palette', settled],
    settled.length < 2 ? null : (signal) => searchAll(settled, signal),
    { types: ['*'] },
  )
  useLayoutEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    return () => {
      dialog.current?.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  useKeys({ Escape: onClose, 'mod+k': onClose }, true)
  const entriesFor = (text: string) => [...entitiesOf(text.trim(), found.value ?? []), ...commandsFor(text.trim())]
  const entries = entriesFor(words)
  const current = Math.min(active, entries.length - 1)
  useEffect(() => {
    dialog.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [current])
  const choose = (entry: Entry | undefined) => {
    if (!entry) return
    onClose()
    entry.run()
  }
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setActive((current + step + entries.length) % Math.max(1, entries.length))
    }
    if (event.key === 'Enter') {
      event.preventDefault()
      event.stopPropagation()
      // Quick typing may be ahead of what is drawn: Enter means what is written.
      const written = (event.currentTarget as HTMLInputElement).value
      choose(written === words ? entries[current] : entriesFor(written)[0])
    }
  }
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it by the keyboard
    <dialog
      ref={dialog}
      class="palette"
      aria-label="Search and commands"
      onCancel={(event) => event.preventDefault()}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <div class="dialog-body">
        <label class="search-box">
          <Icon name="search" />
          <input
            type="text"
            role="combobox"
            aria-label="Search and commands"
            aria-expanded="true"
            aria-controls={list}
            aria-autocomplete="list"
            aria-activedescendant={current >= 0 ? `${list}-${current}` : undefined}
            autocomplete="off"
            spellcheck={false}
            placeholder="Search everything, or type a command"
            value={words}
            onInput={(event) => {
              setWords(event.currentTarget.value)
              setActive(0)
            }}
            onKeyDown={press}
          />
        </label>
        <div role="listbox" id={list} aria-label="Results" class="palette-list" aria-busy={found.loading} tabIndex={-1}>
          {entries.map((entry, at) => (
            <>
              {entry.section !== entries[at - 1]?.section && (
                <div class="menu-section" role="presentation" key={`section ${entry.section}`}>
                  {entry.section}
                </div>
              )}
              {/* biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys */}
              <div
                key={entry.id}
                id={`${list}-${at}`}
                role="option"
                class="option"
                tabIndex={-1}
                aria-selected={at === current}
                onMouseMove={() => setActive(at)}
                onClick={() => choose(entry)}
              >
                <Icon name={entry.icon} />
                <span class="menu-label">{entry.label}</span>
                {entry.hint && <span class="menu-hint">{entry.hint}</span>}
              </div>
            </>
          ))}
        </div>
        {entries.length === 0 && (
          <p class="menu-empty" role="status">
            {found.loading ? 'Searching…' : 'Nothing found'}
          </p>
        )}
      </div>
    </dialog>
  )
}

/** The entities that match, or those that were opened last when nothing is written. */
function entitiesOf(words: string, found: readonly Entity[]): Entry[] {
  if (words === '') {
    return recent().map(({ type, id, title }) => ({
      id,
      section: 'Recent',
      label: title,
      hint: labelOf(type),
      icon: 'clock',
      run: () => go([type, id]),
    }))
  }
  return found.map((entity) => ({
    id: entity.$id,
    section: 'Found',
    label: titleOf(entity, nouns.value.get(entity.$type)),
    hint: labelOf(entity.$type),
    icon: 'dot',
    run: () => go([entity.$type, entity.$id]),
  }))
}

function commandsFor(words: string): Entry[] {
  const readable = [...nouns.value.values()].filter((noun) => may('read', noun) && !HIDDEN_TYPES.has(noun.name))
  const all: Entry[] = [
    ...[...WORK_PAGES, ...SETUP_PAGES]
      .filter(({ shown }) => !shown || shown())
      .map(({ path, label, icon }) =>
        command(`page ${path}`, 'Go to', label, icon, () => go(path === '' ? [] : [path])),
      ),
    ...readable.map((noun) =>
      command(`type ${noun.name}`, 'Go to', labelOf(plural(noun)), 'table', () => go([noun.name])),
    ),
    ...readable
      .filter((noun) => mayChange(noun) && noun.verbs.create)
      .map((noun) =>
        command(`new ${noun.name}`, 'Create', `New ${singular(noun)}`, 'plus', () => go([noun.name], { new: '1' })),
      ),
    ...(asOf.value === null
      ? [
          command('yesterday', 'Time', 'Travel to yesterday', 'clock', () => travel(ago(DAY))),
          command('month', 'Time', 'Travel a month back', 'clock', () => travel(ago(30 * DAY))),
        ]
      : [command('now', 'Time', 'Back to now', 'clock', () => travel(null))]),
    command('leave', 'Key', 'Leave this tenant', 'out', () => leave()),
  ]
  const parts = words.toLowerCase().split(/\s+/).filter(Boolean)
  if (parts.length === 0) return all.filter(({ section }) => section !== 'Create').slice(0, 12)
  return all.filter(({ label }) => parts.every((part) => label.toLowerCase().includes(part))).slice(0, 8)
}

function command(id: string, section: string, label: string, icon: IconName, run: () => void): Entry {
  return { id, section, label, icon, run }
}

function ago(ms: number): string {
  return new Date(Date.now() - ms).toISOString()
}

/** Entities of every type whose words begin as these do, a few of each, in one request. */
async function searchAll(words: string, signal: AbortSignal): Promise<readonly Entity[]> {
  const clean = words.replace(/[^\p{L}\p{N}]+/gu, ' ').trim()
  const types = [...nouns.value.values()].filter(
    (noun) => may('read', noun) && !HIDDEN_TYPES.has(noun.name) && noun.name !== 'Event',
  )
  if (clean === '') return []
  const operations = types.slice(0, 100).map((noun) => ({
    id: noun.name,
    method: 'GET',
    path: `/${noun.name}`,
    query: {
      filter: { $text: clean },
      limit: 4,
      total: false,
      include: titleRelations(noun).join(',') || undefined,
    },
  }))
  const { results } = await request<{ results: { status: number; body: Page }[] }>('POST', '/batch', {
    body: { operations },
    signal,
  })
  const lists = results.map(({ status, body }) => (status === 200 ? body.results : []))
  const all = lists.flat()
  const starts = (entity: Entity) => titleOf(entity).toLowerCase().startsWith(clean.toLowerCase())
  return [...all.filter(starts), ...all.filter((entity) => !starts(entity))].slice(0, 20)
}
