import type { Action, Observation, Operation } from '../history/history.ts'
import { type Answer, isReply, NoAnswer, type Reply } from './request.ts'

/** Statuses that clients of a cluster must expect. All others are reported. */
const EXPECTED = new Set([200, 201, 409, 412, 503])

/** What the clients of one tenant did and saw in one round. */
export class Recorder {
  readonly operations: Operation[] = []
  readonly observations: Observation[] = []
  /** When writes were acknowledged. */
  readonly acknowledged: number[] = []
  /** Answers that are neither success nor an error that the documentation names, with their number. */
  readonly strange = new Map<string, number>()
  /** Why outcomes are unknown, with their number. */
  readonly reasons = new Map<string, number>()

  /** Sends an operation on one entity and records how it went. */
  async operate(
    client: string,
    entity: string,
    action: Action,
    send: () => Promise<Answer>,
  ): Promise<{ readonly version: number; readonly value: string } | null> {
    const began = performance.now()
    const answer = await send()
    const now = performance.now()
    this.notice(answer)
    const base = { client, entity, action, began }
    if (isReply(answer) && answer.status === 404) {
      // Whatever was asked, the answer shows that the entity is not there.
      this.operations.push({ ...base, action: { kind: 'read' }, outcome: 'ok', ended: now, version: 0, value: '' })
      return null
    }
    const success = successOf(answer)
    if (success !== null) {
      const { $version: version, value } = success.body
      if (action.kind !== 'read') this.acknowledged.push(now)
      this.operations.push({ ...base, outcome: 'ok', ended: now, version, value })
      return { version, value }
    }
    // A read or a request that was never sent explains nothing, so it is left out.
    if (action.kind === 'read' || answer === 'refused') return null
    const isCertain = isReply(answer) && answer.status === 412 && action.kind === 'swap'
    if (!isCertain) add(this.reasons, nameOf(answer))
    this.operations.push({
      ...base,
      outcome: isCertain ? 'fail' : 'unknown',
      ended: isCertain ? now : Number.POSITIVE_INFINITY,
      version: null,
      value: null,
    })
    return null
  }

  notice(answer: Answer): void {
    if (!isReply(answer) || EXPECTED.has(answer.status)) return
    add(this.strange, nameOf(answer))
  }
}

function nameOf(answer: Reply | NoAnswer): string {
  if (answer instanceof NoAnswer) return `no answer: ${answer.reason}`
  return `${answer.status} ${answer.body?.error ?? ''} ${answer.body?.message ?? ''}`
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

/** The answer if the request succeeded. A write that became a task has not yet. */
export function successOf(answer: Answer): Reply | null {
  return isReply(answer) && answer.status < 300 && answer.status !== 202 ? answer : null
}
