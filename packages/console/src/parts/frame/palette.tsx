import '../../../style/pages/palette.css'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useKeys } from '../../keyboard.ts'
import { asOf } from '../../place.ts'
import { useData, useSettled } from '../../service/cache.ts'
import { t } from '../../texts/text.ts'
import { Icon } from '../../ui/icon.tsx'
import { TypeIcon } from '../../ui/type-icon.tsx'
import { takeTyped } from '../../ui/typing-ahead.tsx'
import type { Entity } from '../../values/entity.ts'
import { CreateDialog } from '../forms/create.tsx'
import { CreateDialog as CreateLater } from '../forms/create-later.tsx'
import { commandsFor, type Entry, entitiesOf, searchAll } from './palette-entries.ts'

// A command opens this form, and what is typed then goes into it.
CreateLater.bring(CreateDialog)

/** Search across all types, commands and what was opened last, behind Ctrl K. */
export function Palette({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const list = useId()
  const [words, setWords] = useState(takeTyped)
  const [active, setActive] = useState(0)
  const settled = useSettled(words.trim(), 120)
  const found = useData<readonly Entity[]>(
    ['palette', settled, asOf.value],
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
  const entriesFor = (text: string) => {
    // Until the answer is there, those of the one before that fit.
    const isAnswer = text.trim() === settled && !found.isPrevious
    return [...entitiesOf(text.trim(), found.value ?? [], isAnswer), ...commandsFor(text.trim())]
  }
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
      aria-label={t('Search and commands')}
      onCancel={(event) => event.preventDefault()}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <div class="dialog-body">
        <label class="search-box">
          <Icon name="search" />
          <input
            type="text"
            role="combobox"
            aria-label={t('Search and commands')}
            aria-expanded="true"
            aria-controls={list}
            aria-autocomplete="list"
            aria-activedescendant={current >= 0 ? `${list}-${current}` : undefined}
            autocomplete="off"
            spellcheck={false}
            placeholder={t('Search everything, or type a command')}
            value={words}
            onInput={(event) => {
              setWords(event.currentTarget.value)
              setActive(0)
            }}
            onKeyDown={press}
          />
        </label>
        <div
          role="listbox"
          id={list}
          aria-label={t('Results')}
          class="palette-list"
          aria-busy={found.loading}
          tabIndex={-1}
        >
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
                {entry.type ? <TypeIcon type={entry.type} /> : entry.icon && <Icon name={entry.icon} />}
                <span class="menu-label">{entry.label}</span>
                {entry.hint && <span class="menu-hint">{entry.hint}</span>}
              </div>
            </>
          ))}
        </div>
        {entries.length === 0 && (
          <p class="menu-empty" role="status">
            {found.loading ? t('Searching…') : t('Nothing found')}
          </p>
        )}
      </div>
    </dialog>
  )
}
