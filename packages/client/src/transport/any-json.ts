/** JSON whose shape only the caller knows: it depends on the types that the tenant declares. */
// biome-ignore lint/suspicious/noExplicitAny: unknown would make callers cast at every step.
export type AnyJson = any
