import { csvText, saveFile } from '../list/export/save-file.ts'
import { titleOf } from '../service/schema.ts'
import { t } from '../texts/text.ts'
import { actorName } from '../values/actors.ts'
import { hasWords, type LogQuestion, loadEvents } from './event-log.ts'

const PAGE = 100

/** Saves the events under a question that have the words as a CSV file that spreadsheets read: when, what, of which entry, by whom. */
export async function exportEvents(
  question: Omit<LogQuestion, 'cursor' | 'limit'>,
  words: string,
  onProgress: (count: number) => void,
): Promise<void> {
  const rows = [[t('Time'), t('Event'), t('Type'), t('Name'), t('Id'), t('By'), t('By id')]]
  const { signal } = new AbortController()
  let cursor: string | null = null
  do {
    const page = await loadEvents({ ...question, cursor, limit: PAGE }, signal)
    for (const event of page.events.filter((one) => hasWords(one, words))) {
      const { timestamp, type, entityType, entityId, actor, data } = event
      rows.push([timestamp, type, entityType, titleOf(data), entityId, actorName(actor), actor])
    }
    onProgress(rows.length - 1)
    cursor = page.cursor
  } while (cursor !== null)
  saveFile(new Blob([csvText(rows)], { type: 'text/csv' }), 'events.csv')
}
