import { Problem, patternSize } from '@tildebase/nouns'
import { RE2JS } from 're2js'

/** A pattern of this size is searched for in every text. */
const SMALL = 48
/** For others the most steps of one search, characters times the size: nothing else can be done until it ends. */
const MOST_STEPS = 10_000_000
/** After so many steps the time is looked at. */
const FEW_STEPS = 200_000

/** Reports what is wrong with a pattern, or null when it can be used. */
export function regexFault(pattern: string, flags: string): string | null {
  try {
    compilePattern(pattern, flags)
    return null
  } catch (reason) {
    return reason instanceof Error ? reason.message : String(reason)
  }
}

/**
 * A pattern made ready to test texts, in time linear in their length times the size of the pattern. `check` is called
 * from time to time, and may end the work by throwing.
 */
export function regexTest(pattern: string, flags: string, check = () => {}): (text: string) => boolean {
  const compiled = compilePattern(pattern, flags)
  const size = patternSize(pattern)
  let steps = 0
  return (text) => {
    const asked = text.length * size
    if (size > SMALL && asked > MOST_STEPS) throw tooLong(text.length, size)
    steps += asked
    if (steps > FEW_STEPS) {
      steps = 0
      check()
    }
    return compiled.test(text)
  }
}

/** A record as it is shown, or null also when it takes too long to find out whether it may be seen. */
export function orHidden<T>(show: () => T): T | null {
  try {
    return show()
  } catch (reason) {
    if (reason instanceof Problem && reason.code === 'over_budget') return null
    throw reason
  }
}

/** A test that holds for what has a text which is too long for one of its patterns. */
export function orTooLong<T extends readonly unknown[]>(test: (...given: T) => boolean): (...given: T) => boolean {
  return (...given) => {
    try {
      return test(...given)
    } catch (reason) {
      if (reason instanceof Problem && reason.code === 'over_budget') return true
      throw reason
    }
  }
}

function tooLong(length: number, size: number): Problem {
  const message = `A $regex of ${size} characters cannot be searched for in a text of ${length}. Use a shorter pattern or $text.`
  return new Problem('over_budget', message, { limit: 'time' })
}

function compilePattern(pattern: string, flags: string): RE2JS {
  const bits = { i: RE2JS.CASE_INSENSITIVE, m: RE2JS.MULTILINE, s: RE2JS.DOTALL }
  return RE2JS.compile(
    pattern,
    [...flags].reduce((all, flag) => all | bits[flag as 'i'], 0),
  )
}
