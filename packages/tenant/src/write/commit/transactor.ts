import { unlimited } from '../../budget.ts'
import type { Engine, Transaction } from '../../engine/engine.ts'
import type { Grant } from '../../grant/grant.ts'
import { grantFor } from '../../grant/grant.ts'
import { Write, type WriteContext, type WriteExtensions } from '../write.ts'

/** Starts writes: with the clock and the random numbers of the host, and with what services add. */
export class Transactor {
  readonly engine: Engine
  readonly extensions: WriteExtensions = {
    listeners: [],
    verbs: {},
    derive: {},
    compute: () => undefined,
    session: () => null,
  }

  constructor(engine: Engine) {
    this.engine = engine
  }

  /** Runs a write in its own commit, now. */
  commit<T>(grant: Grant, context: Partial<WriteContext>, work: (write: Write) => T): T {
    return this.engine.commit((transaction) => work(this.begin(transaction, grant, context)))
  }

  /** Runs a write of the service itself in its own commit, now. */
  commitAs<T>(actor: string, work: (write: Write) => T): T {
    return this.commit(grantFor(actor), {}, work)
  }

  /** A write inside a transaction. */
  begin(transaction: Transaction, grant: Grant, context: Partial<WriteContext>): Write {
    const { clock, random } = this.engine.ports
    return new Write(transaction, this.extensions, grant, {
      clock: context.clock ?? clock,
      random: context.random ?? random,
      budget: context.budget ?? unlimited(),
      url: context.url ?? null,
      correlation: context.correlation ?? null,
      trace: context.trace ?? null,
      hops: context.hops ?? 0,
      hookAnswers: context.hookAnswers ?? null,
      secrets: context.secrets ?? new Set(),
      toCompute: context.toCompute ?? null,
      isDryRun: context.isDryRun ?? false,
      recorder: context.recorder ?? null,
    })
  }
}
