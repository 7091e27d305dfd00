import { useEffect, useState } from 'preact/hooks'
import { issuesOf } from '../toast.ts'

/** What was refused, unless the inputs of the form say all of it themselves. */
export function useUnsaid(form: { readonly current: HTMLElement | null }, error: Error | null): Error | null {
  const [unsaid, setUnsaid] = useState<Error | null>(null)
  // Inputs are drawn after the form that holds them.
  useEffect(() => {
    const notes = [...(form.current?.querySelectorAll('small.error') ?? [])].map((note) => note.textContent)
    const issues = issuesOf(error)
    setUnsaid(issues.length > 0 && issues.every(({ message }) => notes.includes(message)) ? null : error)
  }, [error])
  return unsaid === error ? error : null
}
