/** The flags as they were given. */
export interface Given {
  text(name: string): string | undefined
  list(name: string): readonly string[]
  has(name: string): boolean
  readonly names: readonly string[]
}
