import { AUTHORS } from '../automation/author-tables.ts'

/**
 * From layout 7 to 8: one table of authors for all that is stored and acts later. The authors of what is there already are
 * written down when the tenant is opened.
 */
export const FROM_7: readonly string[] = [
  ...AUTHORS,
  `INSERT INTO meta (key, value) VALUES ('authors.inherit', '1') ON CONFLICT (key) DO NOTHING`,
]
