import { asOf, go, travel } from '../../place.ts'
import { recent } from '../../recent.ts'
import { mayChange } from '../../service/access.ts'
import { may } from '../../service/rights.ts'
import { nouns, type Page, titleOf } from '../../service/schema.ts'
import { request } from '../../service/service.ts'
import { t } from '../../texts/text.ts'
import type { IconName } from '../../ui/icon.tsx'
import type { Entity } from '../../values/entity.ts'
import { dateText, hasWords, labelOf } from '../../values/format.ts'
import { type Noun, namedLike, singular, titleField, titleRelations } from '../../values/noun.ts'
import { HIDDEN_TYPES, isOffered, leave, leaveLabel, SETUP_PAGES, WORK_PAGES } from './side.tsx'

/** One line of the palette. */
export interface Entry {
  readonly id: string
  readonly section: string
  readonly label: string
  readonly hint?: string
  readonly icon?: IconName
  /** The type that it leads to, in place of an icon. */
  readonly type?: string
  run(): void
}

const DAY = 86_400_000

/**
 * The entities that match, or those that were opened last when nothing is written. What was found for other words counts
 * only if its name has these.
 */
export function entitiesOf(words: string, found: readonly Entity[], isAnswer: boolean): Entry[] {
  if (words === '') {
    return recent().map(({ type, id, title }) => ({
      id,
      section: t('Recent'),
      label: title,
      hint: labelOf(type),
      type,
      run: () => go([type, id]),
    }))
  }
  const named = found.map((entity) => ({ entity, label: titleOf(entity, nouns.value.get(entity.$type)) }))
  const fits = ({ label }: { label: string }) => isAnswer || hasWords(label, words)
  return named.filter(fits).map(({ entity, label }) => ({
    id: entity.$id,
    section: asOf.value === null ? t('Found') : t('As it was on {}', dateText(asOf.value)),
    label,
    hint: labelOf(entity.$type),
    type: entity.$type,
    run: () => go([entity.$type, entity.$id]),
  }))
}

/** The commands whose words contain all that is written. */
export function commandsFor(words: string): Entry[] {
  const readable = [...nouns.value.values()].filter((noun) => may('read', noun) && !HIDDEN_TYPES.has(noun.name))
  const all: Entry[] = [
    ...[...WORK_PAGES, ...SETUP_PAGES]
      .filter(isOffered)
      .map(({ path, label, icon }) =>
        command(`page ${path}`, t('Go to'), label, icon, () => go(path === '' ? [] : [path])),
      ),
    ...readable.map((noun) => ({
      id: `type ${noun.name}`,
      section: t('Go to'),
      label: labelOf(noun.path),
      type: noun.name,
      run: () => go([noun.name]),
    })),
    ...readable
      .filter((noun) => mayChange(noun) && noun.verbs.create)
      .map((noun) =>
        command(`new ${noun.name}`, t('Create'), t('New {}', singular(noun)), 'plus', () =>
          go([noun.name], { new: '1' }),
        ),
      ),
    ...(asOf.value === null
      ? [
          command('yesterday', t('Time'), t('Travel to yesterday'), 'clock', () => travel(ago(DAY))),
          command('month', t('Time'), t('Travel a month back'), 'clock', () => travel(ago(30 * DAY))),
        ]
      : [command('now', t('Time'), t('Back to now'), 'clock', () => travel(null))]),
    command('leave', t('Your account'), leaveLabel(), 'out', () => void leave()),
  ]
  const parts = words.toLowerCase().split(/\s+/).filter(Boolean)
  if (parts.length === 0) return all.filter(({ section }) => section !== t('Create')).slice(0, 12)
  return all.filter(({ label }) => parts.every((part) => label.toLowerCase().includes(part))).slice(0, 8)
}

function command(id: string, section: string, label: string, icon: IconName, run: () => void): Entry {
  return { id, section, label, icon, run }
}

function ago(ms: number): string {
  return new Date(Date.now() - ms).toISOString()
}

/** Entities of every type whose words begin as these do, a few of each, in one request. */
export async function searchAll(words: string, signal: AbortSignal): Promise<readonly Entity[]> {
  const clean = words.replace(/[^\p{L}\p{N}]+/gu, ' ').trim()
  const types = [...nouns.value.values()].filter(
    (noun) =>
      may('read', noun) &&
      !HIDDEN_TYPES.has(noun.name) &&
      noun.name !== 'Event' &&
      (asOf.value === null || titleField(noun) !== null),
  )
  if (clean === '') return []
  const operations = types.slice(0, 100).map((noun) => ({
    id: noun.name,
    method: 'GET',
    path: `/${noun.name}`,
    query: {
      ...asked(noun, clean),
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

/** How a type is asked: by its words in the present, and by its names in the past, which has no index of words. */
function asked(noun: Noun, words: string): { readonly filter: object; readonly asOf?: string } {
  const time = asOf.value
  if (time === null) return { filter: { $text: words } }
  return { filter: namedLike(noun, words) ?? {}, asOf: time }
}
