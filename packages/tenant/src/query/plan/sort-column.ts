import { isIndex, Problem } from '@tildebase/nouns'
import { type Fragment, fragment, join, plain } from './fragment.ts'
import { jsonPath } from './scope.ts'

/** A statement joins at most 64 tables, and every step into JSON is one. */
const MOST_STEPS = 32

/**
 * What rows are sorted by, as `sortValue` tells in memory: of a list the smallest element, or the greatest when
 * descending. The way is bound as one value, however often it is mentioned: a Durable Object allows a hundred.
 */
export function sortColumn(data: Fragment, steps: readonly string[], descending: boolean): Fragment {
  if (jsonPath(steps) === null)
    throw new Problem('invalid_sort', 'A field with quotes or control characters in its name cannot be sorted by.', {
      field: 'sort',
    })
  if (steps.length > MOST_STEPS)
    throw new Problem('invalid_sort', `Sort by at most ${MOST_STEPS} levels.`, { field: 'sort', limit: MOST_STEPS })
  const direction = plain(descending ? 'DESC' : 'ASC')
  return steps.length === 1 ? ownField(data, steps[0]!, direction) : insideField(data, steps, direction)
}

function ownField(data: Fragment, field: string, direction: Fragment): Fragment {
  return fragment`(SELECT CASE json_type(${data}, way) WHEN 'array'
    THEN (SELECT value FROM json_each(${data}, way) ORDER BY value ${direction} LIMIT 1)
    ELSE json_extract(${data}, way) END
    FROM (SELECT ${jsonPath([field])} AS way))`
}

/** Step by step, each a table of the values reached so far: a list represents its elements. */
function insideField(data: Fragment, steps: readonly string[], direction: Fragment): Fragment {
  const ways = steps.map((step) => ({ key: jsonPath([step]), place: isIndex(step) ? `$[${step}]` : null }))
  const tables = steps.map((_, i) => {
    const from = i === 0 ? data : plain(`x${i - 1}.value`)
    const kind = i === 0 ? plain(`'object'`) : plain(`x${i - 1}.type`)
    const key = plain(`(ways ->> '$[${i}].key')`)
    const place = plain(`(ways ->> '$[${i}].place')`)
    const spread = i + 1 === steps.length || !isIndex(steps[i + 1]!)
    return fragment`json_each(CASE ${kind}
      WHEN 'object' THEN ${elements(from, key, spread)}
      ${isIndex(steps[i]!) ? fragment`WHEN 'array' THEN ${elements(from, place, spread)}` : plain('')}
      ELSE '[null]' END) ${plain(`x${i}`)}`
  })
  const last = plain(`x${steps.length - 1}.value`)
  return fragment`(SELECT ${last} FROM (SELECT ${JSON.stringify(ways)} AS ways), ${join(tables, ', ')}
    ORDER BY ${last} ${direction} LIMIT 1)`
}

/** The value at a way as a list of one, or its own elements where a list represents them. */
function elements(json: Fragment, way: Fragment, spread: boolean): Fragment {
  const one = fragment`json_array(${json} -> ${way})`
  if (!spread) return one
  return fragment`CASE json_type(${json}, ${way})
    WHEN 'array' THEN iif(json_array_length(${json}, ${way}) = 0, '[null]', ${json} -> ${way})
    ELSE ${one} END`
}
