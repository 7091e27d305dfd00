import { lazy } from '../../lazy.tsx'
import { TypingAhead } from '../../ui/typing-ahead.tsx'

/** The form of a new entity, whose code is not part of the first page. */
export const CreateDialog = lazy(
  async () => (await import('./create.tsx')).CreateDialog,
  ({ onClose }) => <TypingAhead onClose={onClose} />,
)
