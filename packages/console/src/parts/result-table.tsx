import { TITLE } from '../list/table/columns.ts'
import { href } from '../place.ts'
import { titleOf } from '../service/schema.ts'
import { t } from '../texts/text.ts'
import { Scroll } from '../ui/basics.tsx'
import { EmptyState } from '../ui/states.tsx'
import { type Entity, isEntity } from '../values/entity.ts'
import { labelOf, numberText } from '../values/format.ts'
import { type Noun, titleField } from '../values/noun.ts'
import { Value } from './value.tsx'

/** The entities of an answer as a table, with the columns that have a value. */
export function ResultTable({ noun, rows }: { noun: Noun; rows: readonly Entity[] }) {
  if (rows.length === 0) return <EmptyState icon="search" title={t('Nothing matches')} />
  const columns = columnsOf(noun, rows)
  return (
    <Scroll label={t('Answer')}>
      <table class="grid">
        <thead>
          <tr>
            {columns.map((name) => (
              <th scope="col" key={name}>
                {labelOf(name === TITLE ? noun.name : name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((entity) => (
            <tr key={entity.$id}>
              {columns.map((name) => (
                <td key={name}>
                  <Cell noun={noun} entity={entity} name={name} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

function Cell({ noun, entity, name }: { noun: Noun; entity: Entity; name: string }) {
  if (name === TITLE || name === titleField(noun)) {
    return (
      <a class="title" href={href([noun.name, entity.$id])}>
        {titleOf(entity, noun)}
      </a>
    )
  }
  const value = entity[name]
  if (Array.isArray(value) && value.some(isEntity)) return <>{numberText(value.length)}</>
  return <Value value={value} field={noun.fields[name]} name={name} entity={entity} />
}

/** The columns that have a value in at least one row. */
function columnsOf(noun: Noun, rows: readonly Entity[]): string[] {
  const names = new Set(rows.flatMap((row) => Object.keys(row).filter((name) => row[name] !== null)))
  const title = titleField(noun) ?? TITLE
  const own = [...names].filter(
    (name) => !name.startsWith('$') && !/^(created|updated)At$/.test(name) && name !== title,
  )
  return [title, ...own.slice(0, 12), ...(names.has('$updatedAt') ? ['$updatedAt'] : [])]
}
