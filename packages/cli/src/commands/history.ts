import { Problem } from '@tildebase/client'
import type { Command } from '../command.ts'
import { conflictsOf, logOf, mergedLog } from '../history/merge.ts'
import { operatorWire } from '../link/link.ts'
import { UsageError } from '../parse/usage-error.ts'

export const command: Command = {
  usage: 'history merge TENANT TENANT… --into NEW',
  summary: 'replays the logs of several tenants by time into a new one; needs the operator key',
  flags: { into: { type: 'string', help: 'the name of the new tenant' } },
  examples: ['tilde history merge acme acme-past --into acme-whole', 'tilde history merge a b --into c --dry-run'],
  heeds: ['dry-run'],
  async run(call) {
    const [verb, ...tenants] = call.words
    const { flags, settings, out } = call
    const into = flags.text('into')
    if (verb !== 'merge' || tenants.length < 2 || into === undefined)
      throw new UsageError(
        'Name two tenants or more, and a new one: tilde history merge acme acme-past --into acme-whole',
      )
    const wire = operatorWire(settings)
    const logs = []
    for (const tenant of tenants) {
      const answer = await wire.send(`/operator/tenants/${encodeURIComponent(tenant)}/log`)
      logs.push(logOf(tenant, await answer.text()))
    }
    const conflicts = conflictsOf(logs)
    const events = logs.reduce((sum, log) => sum + log.events.length, 0)
    if (conflicts.length > 0 || settings.dryRun) {
      out.value({ into, events, conflicts })
      if (conflicts.length > 0)
        throw new Problem('conflict', `The logs have ${conflicts.length} conflict(s). Nothing was written.`)
      return
    }
    const body = [...mergedLog(logs, into, Date.now())].join('')
    const raw = { type: 'application/x-ndjson', body }
    const path = `/operator/tenants/${encodeURIComponent(into)}/log`
    const restored = await wire.json(path, { method: 'PUT', raw, once: true })
    out.record({ into, ...restored })
  },
}
