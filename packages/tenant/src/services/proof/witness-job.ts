import type { Engine } from '../../engine/engine.ts'
import type { Job } from '../../engine/scheduler.ts'
import type { Checkpoints } from './checkpoints.ts'
import { storedCheckpoint } from './stored-checkpoint.ts'

/** How long a new event may wait for its cosignature when no checkpoint is asked for. */
const DELAY_MS = 60_000
/** How long witnesses that did not answer are left alone. */
const PAUSE_MS = 600_000

/** Has new events cosigned, also when no checkpoint is asked for. */
export function witnessJob(engine: Engine, checkpoints: Checkpoints): Job {
  const { clock, witnesses = [] } = engine.ports
  let next = clock.now() + DELAY_MS
  let cosigned = cosignedSize(engine)
  if (witnesses.length > 0 && engine.ports.signer) {
    engine.listen(() => {
      if (cosigned < engine.head.seq) return
      cosigned = engine.head.seq - 1
      next = clock.now() + DELAY_MS
      engine.ports.alarm.wakeAt(next)
    })
  }
  return {
    due: () => (witnesses.length > 0 && engine.ports.signer && cosigned < engine.head.seq ? next : null),
    async run() {
      next = clock.now() + PAUSE_MS
      const { size } = await checkpoints.current()
      if (checkpoints.reports.every(({ error }) => error === null)) {
        cosigned = size
        next = clock.now() + DELAY_MS
      }
    },
  }
}

/** The size of the last checkpoint that every witness cosigned. */
function cosignedSize(engine: Engine): number {
  const { witnesses = [] } = engine.ports
  const stored = storedCheckpoint(engine)
  const isWhole = witnesses.every(({ name }) => stored?.note.signatures.some((line) => line.name === name))
  return isWhole && stored ? stored.size : 0
}
