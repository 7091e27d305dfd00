/** A transaction in progress, and what going back to its start takes. */
interface Transaction {
  undo: 'whole' | 'own' | 'shared' | 'again' | 'nothing'
  readonly guarded: boolean
}

// A savepoint's name may repeat: the innermost is meant.
export const SAVEPOINT = 'SAVEPOINT inner_work'
export const RELEASE = 'RELEASE inner_work'

/** The transactions in progress of a connection, one within the other. */
export class Transactions {
  readonly #run: (sql: string) => void
  /** The outermost first. */
  readonly #all: Transaction[] = []
  /** Whether the outermost may be run again, and whether it has to be: nothing of it is there any more. */
  isRepeatable = false
  isLost = false

  constructor(run: (sql: string) => void) {
    this.#run = run
  }

  get isActive(): boolean {
    return this.#all.length > 0
  }

  begin(undo: Transaction['undo'], guarded = false): Transaction {
    const one: Transaction = { undo, guarded }
    this.#all.push(one)
    return one
  }

  /** Ends the innermost. */
  end(): void {
    this.#all.pop()
  }

  /**
   * Before the first write of inner transactions: one savepoint serves all of them that have written nothing yet, as
   * they go back to the same state. It is the outermost one's own. A savepoint copies every page that is written
   * after it, so where all can be run again none is made, unless going back is certain.
   */
  protect(): void {
    if (this.#all.at(-1)?.undo !== 'nothing') return
    const clean = this.#all.slice(this.#all.findIndex(({ undo }) => undo === 'nothing'))
    const bare = this.isRepeatable ? clean.findIndex(({ guarded }) => guarded) : 0
    for (const one of bare < 0 ? clean : clean.slice(0, bare)) one.undo = 'again'
    if (bare < 0) return
    for (const one of clean.slice(bare)) one.undo = 'shared'
    clean[bare]!.undo = 'own'
    this.#run(SAVEPOINT)
  }

  undo({ undo }: Transaction): void {
    if (undo === 'again') {
      this.#run('ROLLBACK')
      this.isLost = true
    }
    if (undo === 'own' || undo === 'shared') this.#run('ROLLBACK TO inner_work')
    if (undo === 'own') this.#run(RELEASE)
  }
}
