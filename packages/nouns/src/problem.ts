/** One error of one field, as a sentence for the sender. */
export interface Issue {
  readonly field: string
  readonly message: string
}

/** Details of a problem. */
export interface About {
  readonly type?: string
  readonly id?: string
  readonly field?: string
  readonly details?: readonly unknown[]
  /** Additional facts of this problem: `supported`, `allow`, `limit`, … */
  readonly [fact: string]: unknown
}

/** An error that the sender can correct. The door maps its code to a status. A Problem is never an internal error. */
export class Problem extends Error {
  readonly code: string
  readonly about: About

  constructor(code: string, message: string, about: About = {}) {
    super(message)
    this.name = 'Problem'
    this.code = code
    this.about = about
  }
}

/** The issues of one body that are reported. A large body can have millions: it is not read on after so many. */
export const MOST_ISSUES = 100

/** The problem of a draft or patch with these issues: all of them, or the first of many. */
export function invalid(type: string, issues: readonly Issue[]): Problem {
  const details = issues.slice(0, MOST_ISSUES)
  const list = details.map(({ field, message }) => (field === '' ? message : `${field}: ${message}`)).join('; ')
  const more = issues.length > MOST_ISSUES ? '; and more' : ''
  return new Problem('validation_error', `The ${type} is not valid. ${list}${more}`, {
    type,
    ...(issues[0]?.field && { field: issues[0].field }),
    details,
  })
}
