import { join } from 'node:path'
import type { JsonLines } from '../handover/json-lines.ts'
import type { FromSuccessor } from '../handover/messages.ts'
import { Alarms } from '../tenants/alarms.ts'
import { OperatorJournal } from './operator-journal.ts'

/** What the host keeps on disk in addition to the tenants. One process has it open at a time. */
export class HostRecords {
  readonly alarms: Alarms
  readonly journal: OperatorJournal

  constructor(data: string, wake: (slug: string) => Promise<void>) {
    this.alarms = new Alarms(join(data, 'alarms.db'), wake)
    this.journal = new OperatorJournal(join(data, 'operator.db'))
  }

  /** Closes it for another process, which receives later records. */
  handOver(line: JsonLines<FromSuccessor>): void {
    this.alarms.handOver((slug, at) => line.send({ do: 'book', slug, at }))
    this.journal.handOver((action, slug, facts) => line.send({ do: 'record', action, slug, facts }))
  }

  close(): void {
    this.alarms.close()
    this.journal.close()
  }
}
