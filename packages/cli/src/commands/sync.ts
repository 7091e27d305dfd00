import { rename, writeFile } from 'node:fs/promises'
import { Problem } from '@tildebase/client'
import { type LocalState, openLocal, type Persistence, sync, syncOver } from '@tildebase/client/sync'
import type { Command } from '../command.ts'
import { readText } from '../files.ts'
import { oneWord } from '../output/words.ts'
import { UsageError } from '../parse/usage-error.ts'

export const command: Command = {
  usage: 'sync FILE',
  summary: 'synchronises a local store (a JSON file) with the service',
  flags: { types: { type: 'string', help: 'only these types, separated by commas' } },
  examples: ['tilde sync store.json', 'tilde sync store.json --types Contact,Deal'],
  async run(call) {
    const file = oneWord(call, 'the file of a local store; created if missing')
    const types = call.flags.text('types')?.split(',')
    const { wire, root } = call.link()
    const store = await openLocal({ persistence: fileStore(file) })
    const { rejected, ...report } = await sync(store, syncOver(wire, root.slice('/~'.length)), types && { types })
    call.out.record({ ...report, rejected: rejected.length, syncedAt: store.lastSyncAt })
    for (const { change, error } of rejected) process.stderr.write(`${change.operation} ${change.id}: ${error}\n`)
    if (rejected.length > 0)
      throw new Problem('changes_rejected', `${rejected.length} change(s) were rejected and undone.`)
  },
}

/** A store in a file that is replaced as a whole, so that an interrupted write leaves the old file. */
function fileStore(path: string): Persistence {
  return {
    async load() {
      let text: string
      try {
        text = await readText(path)
      } catch (reason) {
        if ((reason as NodeJS.ErrnoException).code === 'ENOENT') return null
        throw reason
      }
      try {
        return JSON.parse(text) as LocalState
      } catch {
        throw new UsageError(`${path} is not a local store: it is not valid JSON.`)
      }
    },
    async save(state) {
      await writeFile(`${path}.part`, JSON.stringify(state), { mode: 0o600 })
      await rename(`${path}.part`, path)
    },
  }
}
