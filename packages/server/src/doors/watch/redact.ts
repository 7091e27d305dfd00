import { isPlainObject } from '@tildebase/nouns'

/** A value without the secrets that were issued while it was made, at any depth, also inside of texts. */
export function redacted(value: unknown, secrets: ReadonlySet<string>): unknown {
  if (secrets.size === 0) return value
  if (typeof value === 'string') return withoutSecrets(value, secrets)
  if (Array.isArray(value)) return value.map((one) => redacted(one, secrets))
  if (!isPlainObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => typeof inner !== 'string' || !secrets.has(inner))
      .map(([name, inner]) => [name, redacted(inner, secrets)]),
  )
}

function withoutSecrets(text: string, secrets: ReadonlySet<string>): string {
  let shown = text
  for (const secret of secrets) shown = shown.replaceAll(secret, '[secret]')
  return shown
}
