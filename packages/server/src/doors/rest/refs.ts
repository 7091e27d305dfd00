import { isPlainObject, Problem } from '@tildebase/nouns'

/** The result of an earlier operation. */
interface EarlierResult {
  readonly status: number
  readonly content: { value(): unknown; text(): string } | null
}

type Results = ReadonlyMap<string, EarlierResult>

/** A body with every `{"$ref": "op1", "path": "$id"}` replaced by what it refers to. */
export function resolve(value: unknown, results: Results): unknown {
  if (Array.isArray(value)) return value.map((element) => resolve(element, results))
  if (!isPlainObject(value)) return value
  if (isRef(value)) return valueAt(value.$ref, value.path ?? '$id', results)
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner, results)]))
}

/** A string with every `${op1.$id}` replaced by what it refers to. */
export function fill(text: string, results: Results, write: (value: string) => string): string {
  return text.replace(/\$\{([^{}.]+)(?:\.([^{}]*))?\}/g, (whole, id: string, path: string | undefined) => {
    const value = valueAt(id, path ?? '$id', results)
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      return write(String(value))
    throw new Problem('invalid_ref', `${whole} is not a string, a number or a boolean.`, { field: whole })
  })
}

function isRef(value: { readonly [key: string]: unknown }): value is { $ref: string; path?: string } {
  const { $ref, path, ...others } = value
  const named = typeof $ref === 'string' && (path === undefined || typeof path === 'string')
  return named && Object.keys(others).length === 0
}

function valueAt(id: string, path: string, results: Results): unknown {
  const result = results.get(id)
  if (!result) {
    throw new Problem('invalid_ref', `No earlier operation has the id ${id}.`, { field: id })
  }
  if (result.status >= 400) {
    throw new Problem('dependency_failed', `This operation needs the result of ${id}, which failed.`, { field: id })
  }
  let value: unknown = result.content?.value() ?? null
  for (const step of path === '' ? [] : path.split('.')) {
    const there = typeof value === 'object' && value !== null && Object.hasOwn(value, step)
    if (!there)
      throw new Problem('invalid_ref', `The result of ${id} has no value at ${path}.`, { field: `${id}.${path}` })
    value = (value as { [key: string]: unknown })[step]
  }
  return value
}
