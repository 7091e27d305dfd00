import { type Filter, type Lens, type Noun, parsePlain } from '@tildebase/nouns'
import type { Budget } from '../budget.ts'
import type { Engine } from '../engine/engine.ts'
import type { Grant } from '../grant/grant.ts'
import { reachableNouns } from '../query/parameters/filter.ts'
import { askedFilter, asOfSeq, demandReachable, includeOf, industryFilter } from '../query/parameters/parameters.ts'
import { MOST_UNKNOWN, searchBudget, type UnknownField, unknownField } from '../query/parameters/unknown-names.ts'
import { unknownPatterns } from '../services/events/emitted.ts'

/** Reads what requests ask for. A question that reaches types that the grant may not read is refused here. */
export class QuestionReader {
  readonly #engine: Engine
  readonly #grant: Grant
  /** What the search for unknown names may use, of all types together. */
  readonly #search: Budget
  readonly #budget: Budget

  constructor(engine: Engine, grant: Grant, budget: Budget) {
    this.#engine = engine
    this.#grant = grant
    this.#budget = budget
    this.#search = searchBudget(budget.cpu)
  }

  /** A filter in the query language. */
  filter(noun: Noun, json: unknown): Filter {
    return askedFilter(this.#engine, this.#grant, noun, json)
  }

  /** Equalities that a URL gives as plain parameters. */
  equalities(noun: Noun, parameters: readonly (readonly [string, string])[]): Filter {
    const filter = parsePlain(parameters, noun, reachableNouns(this.#engine, this.#grant), this.#engine.nextTime())
    return demandReachable(this.#engine, this.#grant, filter)
  }

  /** The condition that an industry's lens adds. */
  industry(noun: Noun, lens: Lens): Filter {
    return industryFilter(this.#engine, this.#grant, noun, lens)
  }

  /** The relations to embed. */
  include(noun: Noun, input: unknown): readonly string[] {
    return includeOf(this.#engine, this.#grant, noun, input)
  }

  /** The seq that `asOf` means for a type. */
  asOf(value: unknown, type: string): number {
    return asOfSeq(this.#engine, value, type)
  }

  /**
   * The names that a type neither declares nor holds, nor held at the seq `asOf`, as far as they are found in a short time.
   * With `isStrict` all are found, or the budget of the request is used up.
   */
  unknownFields(noun: Noun, names: Iterable<string>, isStrict = false, asOf: number | null = null): UnknownField[] {
    const budget = isStrict ? this.#budget : this.#search
    const unknown: UnknownField[] = []
    for (const name of names) {
      const field = unknownField(this.#engine, this.#grant, noun, name, { budget, isStrict, asOf })
      if (field) unknown.push(field)
      if (unknown.length >= MOST_UNKNOWN || (!isStrict && budget.msLeft <= 0)) break
    }
    return unknown
  }

  /** The patterns of events, such as `Contct.created`, that no event matches. */
  unknownPatterns(patterns: readonly string[]): UnknownField[] {
    return unknownPatterns(this.#engine, patterns).slice(0, MOST_UNKNOWN)
  }
}
