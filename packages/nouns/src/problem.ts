/** One fault of one field, as a sentence that can be shown to the person who sent it. */
export interface Issue {
  readonly field: string
  readonly message: string
}

/** What a problem concerns, in addition to its sentence. */
export interface About {
  readonly type?: string
  readonly id?: string
  readonly field?: string
  readonly details?: readonly unknown[]
  /** Facts for this problem alone, shown next to the others: `supported`, `allow`, `limit`, … */
  readonly [fact: string]: unknown
}

/** Something the sender can act on. The door turns its code into a status; a Problem is never a bug of ours. */
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

/** The problem of a draft or patch with these issues, all of them. */
export function invalid(type: string, issues: readonly Issue[]): Problem {
  const list = issues.map(({ field, message }) => (field === '' ? message : `${field}: ${message}`)).join('; ')
  return new Problem('validation_error', `The ${type} is not valid. ${list}`, {
    type,
    ...(issues[0]?.field && { field: issues[0].field }),
    details: issues,
  })
}
