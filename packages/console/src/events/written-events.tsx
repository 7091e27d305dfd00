import type { JsonObject } from '@tildebase/nouns'
import { href } from '../place.ts'
import { nouns, titleOf } from '../service/schema.ts'
import { t } from '../texts/text.ts'

/** The events that a dry run would write. */
export function WrittenEvents({ events }: { events: readonly JsonObject[] }) {
  if (events.length === 0) return <p>{t('It would write nothing.')}</p>
  return (
    <>
      <p>{t('It would write')}</p>
      <ul aria-label={t('Events it would write')}>
        {events.map((event, at) => (
          <li key={at}>
            <code>{String(event.type)}</code> {titleIn(event)}
          </li>
        ))}
      </ul>
    </>
  )
}

function titleIn({ entityType, entityId, verb, data }: JsonObject) {
  const title = titleOf((data ?? {}) as JsonObject, nouns.value.get(String(entityType)))
  // What it would create is not there to be opened.
  return verb === 'create' ? title : <a href={href([String(entityType), String(entityId)])}>{title}</a>
}
