/** A value as a chunk takes it: times and days as numbers, JSON as text. */
export type Value = string | number | boolean
