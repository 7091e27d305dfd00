/** Why a request was refused before its tenant saw it. */
export type RefusalReason =
  | 'no_key'
  | 'unknown_key'
  | 'key_guesses'
  | 'signups'
  | 'open_paths'
  | 'sockets'
  | 'address_requests'
  | 'pipelined'
  | 'body_memory'
  | 'slow_body'
  | 'answer_memory'
  | 'slow_reader'
  | 'key_requests'
  | 'tenant_requests'

/** Counts refusals by reason. */
export class Refusals {
  readonly counts = new Map<RefusalReason, number>()

  count(reason: RefusalReason): void {
    this.counts.set(reason, (this.counts.get(reason) ?? 0) + 1)
  }
}
