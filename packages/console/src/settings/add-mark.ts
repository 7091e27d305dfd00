import { marks } from '../parts/frame/marks.ts'
import { momentText } from '../values/format.ts'
import { saveSetting } from './save-setting.ts'

const MOST = 100

/** Names a moment for everyone in the tenant. */
export async function addMark(name: string, at: string): Promise<void> {
  const next = [...marks(), { at, name }].slice(-MOST).sort((a, b) => a.at.localeCompare(b.at))
  await saveSetting('marks', next, `“${name}” marks ${momentText(at)}.`)
}
