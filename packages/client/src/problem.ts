import { type About, Problem as AnyProblem } from '@tildebase/nouns'
import type { ProblemCode } from './types/problem-codes.ts'

/** A refusal of the service, or a failure on the way to it. Its code is one of `ProblemCode`. */
export interface Problem extends AnyProblem {
  readonly code: ProblemCode
}

export const Problem = AnyProblem as {
  new (code: ProblemCode, message: string, about?: About): Problem
  readonly prototype: Problem
}
