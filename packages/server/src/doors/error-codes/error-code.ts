/** An error code: its HTTP status, when it occurs, and what the sender can do. */
interface ErrorCode {
  readonly status: number
  readonly cause: string
  readonly remedy: string
}

export type ErrorCodes = { readonly [code: string]: ErrorCode }
