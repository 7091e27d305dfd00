import type { Look, Problem } from '@tildebase/nouns'
import { overBudget } from '../../budget.ts'

/** Elements of lists that conditions look at in one entity: some 30 milliseconds. */
const MOST = 2_000_000
/** After so many the time is looked at. */
const FEW = 50_000
/** So many each of several filters may look at, whatever the others have looked at. */
const LEAST = 2_000

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
    if (this.#left < 0) throw tooMany()
    this.#unchecked += count
    if (this.#unchecked < FEW) return
    this.#unchecked = 0
    this.#check()
  }
}

/** Counts the elements that several filters look at in one event: together as many as one filter may, and each of them a few. */
export class SharedElements {
  #left = MOST

  /** The count of one of the filters. */
  one(): Look {
    let few = LEAST
    return (count) => {
      if (this.#left >= count) this.#left -= count
      else if (few >= count) few -= count
      else throw tooMany()
    }
  }
}

function tooMany(): Problem {
  return overBudget('time', `${MOST} elements of lists in one entity`)
}
