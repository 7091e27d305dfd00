import { ANY_OBJECT } from './common.ts'
import type { Schema } from './schemas.ts'

export const TEXT = { type: 'string' }
export const TIME = { type: 'string', format: 'date-time' }
export const TIME_OR_NULL = { type: ['string', 'null'], format: 'date-time' }
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
