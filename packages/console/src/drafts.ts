import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { guardPlace, place } from './place.ts'
import { confirmDiscard } from './ui/dialog.tsx'
import type { Draft } from './values/entity.ts'
import type { Noun } from './values/noun.ts'

const PREFIX = 'tildebase.draft '

/** What is on the page and not saved. */
const unsaved = new Set<{ discard(): void }>()

/** Whether nothing would be lost, or people agree to discard it. */
export async function mayLeave(): Promise<boolean> {
  if (unsaved.size === 0) return true
  if (!(await confirmDiscard())) return false
  for (const one of unsaved) one.discard()
  unsaved.clear()
  return true
}

guardPlace({ isNeeded: () => unsaved.size > 0, ask: mayLeave })

// The browser asks before it reloads or closes the tab.
window.addEventListener('beforeunload', (event) => {
  if (unsaved.size > 0) event.preventDefault()
})

/** The name of the draft of a new entity. */
export function newDraft(noun: Noun, preset: Draft = {}): string {
  return `new ${noun.name} ${Object.values(preset).join(' ')}`.trim()
}

export interface Kept<T> {
  readonly draft: T
  set(next: T | ((old: T) => T)): void
  /** Forgets the draft: it was saved, or people discarded it. */
  forget(): void
  readonly isSaving: boolean
  /** Runs the write that saves the draft, once at a time. The page may be left meanwhile without a question. */
  save(write: () => Promise<void>): Promise<void>
}

/**
 * What people wrote and did not save yet. It survives a reload of the tab under its name, and the page is not left
 * without a question while it is not empty and not being saved. Without a name it does not survive.
 */
export function useDraft<T>(name: string | null, initial: T, isEmpty: (draft: T) => boolean): Kept<T> {
  const [draft, setDraft] = useState<T>(() => (name === null ? null : keptDraft<T>(name)) ?? initial)
  const [isSaving, setSaving] = useState(false)
  const isRunning = useRef(false)
  const isUnsaved = !isEmpty(draft)
  useLayoutEffect(() => {
    if (name === null) return
    if (isUnsaved) sessionStorage.setItem(keyOf(name), JSON.stringify(draft))
    else sessionStorage.removeItem(keyOf(name))
  }, [name, draft, isUnsaved])
  useUnsaved(isUnsaved && !isSaving, name)
  const save = async (write: () => Promise<void>) => {
    if (isRunning.current) return
    isRunning.current = true
    setSaving(true)
    try {
      await write()
    } finally {
      isRunning.current = false
      setSaving(false)
    }
  }
  return { draft, set: setDraft, forget: () => forgetDraft(name), isSaving, save }
}

/** Asks before the page is left while something on it is not saved. */
export function useUnsaved(isUnsaved: boolean, name: string | null = null): void {
  useLayoutEffect(() => {
    if (!isUnsaved) return
    const one = { discard: () => forgetDraft(name) }
    unsaved.add(one)
    return () => void unsaved.delete(one)
  }, [isUnsaved, name])
}

/** A draft that was kept in this tab; null when there is none. */
export function keptDraft<T>(name: string): T | null {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(name)) ?? 'null') as T | null
  } catch {
    return null
  }
}

/** The ends of the names of kept drafts that begin so. */
export function keptDrafts(beginning: string): string[] {
  const start = keyOf(beginning)
  return Object.keys(sessionStorage)
    .filter((key) => key.startsWith(start))
    .map((key) => key.slice(start.length))
}

/** Forgets all drafts of this tab, when a person signs out. */
export function forgetDrafts(): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key)
}

/** Forgets a draft that people discarded. */
export function forgetDraft(name: string | null): void {
  if (name !== null) sessionStorage.removeItem(keyOf(name))
}

function keyOf(name: string): string {
  return `${PREFIX}${place.value.tenant} ${name}`
}
