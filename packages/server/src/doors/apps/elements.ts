import { type Fields, say } from './bridge.ts'

type Child = Node | string | null | false

/** An element with its attributes and children. Texts become text, never markup. */
export function element(tag: string, attributes: { readonly [name: string]: string } = {}, ...children: Child[]) {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value)
  made.append(...children.filter((child) => child !== null && child !== false))
  return made
}

/** Puts new content into the view. */
export function render(...children: Child[]): void {
  document.getElementById('view')!.replaceChildren(...children.filter((child) => child !== null && child !== false))
}

/** A button whose work may take a moment. It rests meanwhile, and an error is said. */
export function button(label: string, work: () => Promise<void>, attributes: { readonly [name: string]: string } = {}) {
  const made = element('button', { type: 'button', ...attributes }, label) as HTMLButtonElement
  made.addEventListener('click', async () => {
    made.disabled = true
    say('')
    try {
      await work()
    } catch (reason) {
      say((reason as Error).message)
    } finally {
      made.disabled = false
    }
  })
  return made
}

/** The fields of an entity as rows of a table: its own first, those of the service last. */
export function fieldTable(caption: string, fields: Fields): HTMLElement {
  const names = Object.keys(fields).filter((name) => name !== '$context' && fields[name] !== null)
  const ordered = [...names.filter((name) => !name.startsWith('$')), ...names.filter((name) => name.startsWith('$'))]
  const rows = ordered.map((name) =>
    element('tr', {}, element('th', { scope: 'row' }, name), element('td', {}, textOf(fields[name]))),
  )
  return element('table', {}, element('caption', {}, caption), element('tbody', {}, ...rows))
}

const LONGEST = 500

/** A value in words. Times are shown as the person's language writes them. */
export function textOf(value: unknown, longest = LONGEST): string {
  if (value === null || value === undefined) return '–'
  if (typeof value === 'string')
    return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) ? timeOf(value) : shortened(value, longest)
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const { name, $id } = value as { name?: unknown; $id?: unknown }
  if (typeof $id === 'string') return typeof name === 'string' ? name : $id
  return shortened(JSON.stringify(value), longest)
}

export function timeOf(iso: string): string {
  const { locale } = document.documentElement.dataset
  return new Date(iso).toLocaleString(locale)
}

function shortened(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}
