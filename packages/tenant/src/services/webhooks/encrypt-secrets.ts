import type { Engine } from '../../engine/engine.ts'
import { plainSecrets, replaceSecrets } from '../../store/outgoing/receivers.ts'

/** Encrypts secrets that an earlier version stored as they are. */
export function encryptSecrets({ sql, ports }: Engine): void {
  const found = plainSecrets(sql)
  if (found.length === 0) return
  sql.transaction(() => {
    for (const { id, secret, old } of found) {
      replaceSecrets(sql, id, ports.vault.encrypt(secret), old && ports.vault.encrypt(old))
    }
  })
  // What was overwritten must not remain in the files next to the database.
  sql.scrub?.()
}
