/** A JSON Schema, as OpenAPI 3.1 takes it. */
export type Schema = { readonly [key: string]: unknown }

/** An object of any keys. Without the last word, generators take `{type: object}` for one that has none. */
export const ANY_OBJECT: Schema = { type: 'object', additionalProperties: true }
export const TEXT = { type: 'string' }
export const TIME = { type: 'string', format: 'date-time' }
export const TIME_OR_NULL = { type: ['string', 'null'], format: 'date-time' }
export const FLAG = { type: 'boolean' }
export const WHOLE = { type: 'integer' }
export const NUMBER_OR_NULL = { type: ['number', 'null'] }
export const TEXT_OR_NULL = { type: ['string', 'null'] }
export const OBJECT_OR_NULL = { anyOf: [ANY_OBJECT, { type: 'null' }] }

export function record(description: string, properties: Schema, required: readonly string[]): Schema {
  return {
    type: 'object',
    ...(description !== '' && { description }),
    properties,
    ...(required.length > 0 && { required }),
  }
}

/** An object that has all of these properties. */
export function whole(properties: Schema): Schema {
  return record('', properties, Object.keys(properties))
}

/** A schema of the document, by its name. */
export function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` }
}

/** One schema or another. */
export function either(...schemas: readonly Schema[]): Schema {
  return { anyOf: schemas }
}

/** A list that is answered as a whole. */
export function resultsOf(items: Schema = ANY_OBJECT): Schema {
  return whole({ results: { type: 'array', items }, total: WHOLE })
}

/** A page of a list. Written out for each kind of result: generators read an `allOf` as both of its lists at once. */
export function listOf(items: Schema): Schema {
  return {
    type: 'object',
    properties: {
      results: { type: 'array', items },
      total: { type: 'integer', minimum: 0 },
      hasMore: FLAG,
      cursor: { type: ['string', 'null'], description: 'Send it to get the next page.' },
    },
    required: ['results', 'hasMore', 'cursor'],
  }
}
