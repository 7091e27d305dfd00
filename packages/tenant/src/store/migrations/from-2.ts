/**
 * From layout 2 to 3: tables have the names of the field, kept answers know the rights that they were made with, and
 * deliveries know the address that they were queued for. Answers from before are forgotten: their rights are unknown.
 */
export const FROM_2: readonly string[] = [
  'ALTER TABLE facts RENAME TO field_index',
  'ALTER TABLE past RENAME TO versions',
  'ALTER TABLE afters RENAME TO after_hook_queue',
  'ALTER TABLE outbox ADD COLUMN url TEXT',
  'DELETE FROM answers',
  `ALTER TABLE answers ADD COLUMN rights TEXT NOT NULL DEFAULT '{}'`,
  `UPDATE meta SET key = 'versions.seq' WHERE key = 'past.seq'`,
]
