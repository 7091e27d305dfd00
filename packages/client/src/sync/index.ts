export {
  type LocalEntity,
  type LocalOptions,
  type LocalState,
  LocalStore,
  openLocal,
  type Persistence,
} from './local.ts'
export { type SendSync, type SyncReport, sync, syncOver } from './sync.ts'
