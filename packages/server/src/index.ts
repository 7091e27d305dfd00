export { type LocalOptions, type LocalTildebase, localTildebase } from './local.ts'
export { readSettings, SettingError, type Settings } from './node/config.ts'
export { type Host, startHost } from './node/host.ts'
export { defineProgram, type HookRegistryOf, type ProgramOf } from './program.ts'
