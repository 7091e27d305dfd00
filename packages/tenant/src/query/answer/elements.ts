import { overBudget } from '../../budget.ts'

/** Elements of lists that conditions look at in one entity: some 30 milliseconds. */
const MOST = 2_000_000
/** After so many the time is looked at. */
const FEW = 50_000

/** Counts the elements of lists that the conditions of a filter look at in one entity: nothing else can be done until then. */
export class ElementCount {
  readonly #check: () => void
  #left = MOST
  #unchecked = 0

  constructor(check = () => {}) {
    this.#check = check
  }

  /** Begins with another entity. */
  begin(): void {
    this.#left = MOST
  }

  readonly look = (count: number): void => {
    this.#left -= count
    if (this.#left < 0) throw overBudget('time', `${MOST} elements of lists in one entity`)
    this.#unchecked += count
    if (this.#unchecked < FEW) return
    this.#unchecked = 0
    this.#check()
  }
}
