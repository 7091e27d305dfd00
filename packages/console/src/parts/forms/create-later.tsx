import { lazyWindow } from '../../lazy.tsx'

/** The form of a new entity, whose code is not part of the first page. */
export const CreateDialog = lazyWindow(async () => (await import('./create.tsx')).CreateDialog)
