import { options } from 'preact'

/** The texts of the console in another language, by the English ones. `{}` is for what changes: `New {}`. */
export type Texts = { readonly [english: string]: string }

/** The attributes that people read or hear. */
const READ = ['aria-label', 'title', 'placeholder', 'label', 'aria-valuetext'] as const
/** Elements whose text is data of the tenant or code, and never a text of the console. */
const DATA = new Set(['code', 'pre', 'textarea', 'script', 'style', 'del', 'ins'])

/** Translates every text that the console draws from now on. What has no translation stays as it is. */
export function translateWith(texts: Texts): void {
  const translate = translatorOf(texts)
  const before = options.vnode
  options.vnode = (vnode) => {
    if (typeof vnode.type === 'string' && !DATA.has(vnode.type)) {
      const props = vnode.props as { [name: string]: unknown }
      for (const name of READ) if (typeof props[name] === 'string') props[name] = translate(props[name])
      // A title is what the entity is called.
      if (props.class !== 'title') props.children = translated(props.children, translate)
    }
    before?.(vnode)
  }
}

/** The translation of a text, with the spaces around it; the text itself where there is none. */
export function translatorOf(texts: Texts): (text: string) => string {
  const patterns = Object.entries(texts)
    .filter(([english]) => english.includes('{}'))
    .map(([english, other]) => ({ pattern: patternOf(english), other }))
  const known = new Map<string, string>()
  const find = (text: string) => {
    if (Object.hasOwn(texts, text)) return texts[text]!
    for (const { pattern, other } of patterns) {
      const parts = pattern.exec(text)?.slice(1)
      if (parts) return other.replaceAll('{}', () => textOf(parts.shift() ?? ''))
    }
    return text
  }
  const textOf = (text: string) => (Object.hasOwn(texts, text) ? texts[text]! : text)
  return (text) => {
    const bare = text.trim()
    if (bare === '') return text
    const found = known.get(bare) ?? find(bare)
    if (known.size < 5_000) known.set(bare, found)
    return found === bare ? text : text.replace(bare, () => found)
  }
}

function translated(children: unknown, translate: (text: string) => string): unknown {
  if (typeof children === 'string') return translate(children)
  return Array.isArray(children) ? children.map((one) => (typeof one === 'string' ? translate(one) : one)) : children
}

function patternOf(english: string): RegExp {
  const parts = english.split('{}').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('(.+?)')}$`)
}
