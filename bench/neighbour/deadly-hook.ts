import type { HookRegistry } from '@tildebase/tenant/hooks'

/** A hook that ends its thread, as a fault in a native module would. */
export const hooks = ({ Lead }: HookRegistry) => Lead!.creating!(() => process.exit(1))
