import type { Call, Command } from '../command.ts'
import { operatorWire } from '../link/link.ts'
import { withProgress } from '../output/task-progress.ts'
import { someWords } from '../output/words.ts'

export const command: Command = {
  usage: 'fork TENANT NEW [--as-of TIME|SEQ]',
  summary: 'copies a tenant to a new one, now or as of a time; needs the operator key',
  flags: {},
  examples: ['tilde fork acme acme-test', 'tilde fork acme acme-before --as-of 2026-01-31T12:00:00Z'],
  heeds: ['as-of'],
  run: fork,
}

/** Copies a tenant. */
export async function fork(call: Call): Promise<void> {
  const [from, to] = someWords(call, ['the tenant to copy', 'a name for the new tenant'])
  const { settings, out } = call
  const body = { to, asOf: settings.asOf }
  const path = `/operator/tenants/${encodeURIComponent(from!)}/fork`
  const wire = operatorWire(settings)
  out.record(await withProgress(wire, from!, wire.json(path, { method: 'POST', body, once: true })))
}
