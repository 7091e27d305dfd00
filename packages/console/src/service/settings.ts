import { signal } from '@preact/signals'
import type { Json } from '@tildebase/nouns'
import { setCurrency } from '../values/format.ts'
import { setTones } from '../values/tones.ts'
import { storeOf } from './own-types.ts'
import { may } from './rights.ts'
import { nouns, type Page } from './schema.ts'
import { request } from './service.ts'

const TYPE = 'Setting'

interface Setting {
  readonly id: string
  readonly value: Json
}

/** What the tenant has decided for everyone: its name, its currency, the colours of states, marks in time. */
const settings = signal<ReadonlyMap<string, Setting> | null>(null)

/** Whether it is known yet what the tenant has decided. */
export const areSettingsKnown = () => settings.value !== null

/** The value of a setting; null when it is not set. */
export function setting(name: string): Json {
  return settings.value?.get(name)?.value ?? null
}

/** The id of a setting that is set. */
export const settingId = (name: string) => settings.value?.get(name)?.id

/** What the tenant calls itself; null when it has not said so. */
export function tenantName(): string | null {
  const name = setting('name')
  return typeof name === 'string' && name !== '' ? name : null
}

/** Whether this key can change settings. */
export const mayConfigure = () => storeOf(TYPE) === 'tenant'

/** Forgets what a tenant has decided: the next one has settings of its own. */
export function forgetSettings(): void {
  take(null)
}

/** Loads the settings, as far as the key may read them. */
export async function loadSettings(): Promise<void> {
  const noun = nouns.value.get(TYPE)
  const known = may('read', noun)
    ? await request<Page>('GET', `/${TYPE}`, { query: { limit: 100, total: false } })
    : null
  const found = (known?.results ?? []).map(
    ({ $id, name, value }) => [String(name), { id: $id, value: value ?? null }] as const,
  )
  take(new Map(found))
}

function take(found: ReadonlyMap<string, Setting> | null): void {
  settings.value = found
  setCurrency(setting('currency'))
  setTones(setting('colours'))
}
