// What programs that declare hooks need: @tildebase/tenant/hooks.
export type { HookReads, HooksOn, HookWrites } from './engine/hook-types.ts'
export { type AfterHook, type BeforeHook, type HookRegistry, Hooks, registryOf } from './engine/hooks.ts'
