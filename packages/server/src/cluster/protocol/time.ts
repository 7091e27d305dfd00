/** The clocks and timers of a node. The protocol reads them here only, so that a simulation can set them. */
export interface Time {
  /** Milliseconds that never go back. They decide when to claim, never whether a write is safe. */
  elapsed(): number
  /** Milliseconds since 1970, as the machine believes. */
  wall(): number
  sleep(ms: number): Promise<void>
}
