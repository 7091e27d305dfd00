import { OPERATORS } from '@tildebase/nouns'

/** What Tildebase is, for a language model that has never seen it. */
export const SUMMARY =
  'Tildebase is a multi-tenant store of typed business entities. Every change is a verb, every verb writes one event to an immutable log, and every read can ask for the past.'

/** How the API is used, in few words. The lines are Markdown, with `{base}` as the address of a tenant. */
const USE = [
  'Send `Authorization: Bearer <key>` with every request. JSON in, JSON out.',
  '`GET {base}/Contact?filter={"stage":"Lead"}&sort=-createdAt&limit=25` lists entities: `results`, `total`, `hasMore`, `cursor`. Pass `cursor` back for the next page. A plain parameter is an equality: `?stage=Lead`.',
  '`GET {base}/Contact/{id}?include=organization` reads one entity. `/count` and `/aggregate?group=stage&sum=value` count and measure.',
  '`POST {base}/Contact` creates, `PUT {base}/Contact/{id}` merges fields (null clears one), `DELETE` deletes softly.',
  '`POST {base}/Contact/{id}/qualify` runs a verb; arguments are the JSON body. Prefer verbs to setting a state field.',
  '`asOf` on any read is a time, `7d ago`, or the `seq` of an event. `GET {base}/Contact/{id}/history` lists versions.',
  '`POST {base}/batch` takes up to 100 operations; `"atomic": true` makes them one transaction.',
  '`?dryRun=true` on a write shows the result and writes nothing. `?propose=<title>` files it for approval instead.',
  'Errors have `error` (a code), `message` (what to do), `field` and `details`. Retry 429 and 503 after `Retry-After`; send an `Idempotency-Key` with a POST.',
]

/** The sections that do not depend on a tenant. */
export function commonSections(base: string): string[] {
  return [
    '## How to use it',
    USE.map((line) => `- ${line.replaceAll('{base}', base)}`).join('\n'),
    '## Filters',
    `A filter is a JSON object in the style of MongoDB: ${Object.keys(OPERATORS)
      .map((name) => `\`${name}\``)
      .join(
        ', ',
      )} on fields; \`$and\`, \`$or\` and \`$text\` (words) at the top. Dots follow relations in either direction, 3 segments at most: \`{"organization.industry": "Retail"}\`. Times are ISO 8601, \`now\`, \`today\` or \`7d ago\`. Missing and null are the same.`,
    '## Types of your own',
    `\`PUT ${base}/schema/Order\` with \`{"number": "string!##", "total": "number 0..", "status": "Draft | Placed = Draft", "contact": "-> Contact.orders", "place": {"from": "Draft", "set": {"status": "Placed"}}}\`: strings are fields (\`!\` required, \`#\` indexed, \`##\` unique, \`[]\` list, \`->\` relation, \`= expression\` computed), objects are verbs. It needs \`admin:platform\`.`,
  ]
}
