import { EVENT_VIEW } from '../log/log-tables.ts'

/** From layout 14 to 15: the row of an event holds the part of its id that its time and seq do not tell. Rows from before stay. */
export const FROM_14: readonly string[] = ['DROP VIEW events', EVENT_VIEW]
