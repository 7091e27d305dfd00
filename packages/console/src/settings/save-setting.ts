import type { Json } from '@tildebase/nouns'
import { loadSettings, settingId } from '../service/settings.ts'
import { sayDone, write } from '../service/write.ts'
import { ensureType } from './own-notations.ts'

const TYPE = 'Setting'

/** Sets what is so for everyone in the tenant. The type that holds settings is declared with the first. */
export async function saveSetting(name: string, value: Json, done: string): Promise<void> {
  await ensureType(TYPE)
  await loadSettings()
  const known = settingId(name)
  const change = known
    ? ({ method: 'PUT', path: `/${TYPE}/${known}`, body: { value }, type: TYPE } as const)
    : { path: `/${TYPE}`, body: { name, value }, type: TYPE }
  const { correlation } = await write(change)
  await loadSettings()
  sayDone(done, correlation)
}
