/**
 * The part of an OpenAPI document with some of its paths, and only the components that these refer to. Types that are
 * reached through relations alone are named and not described: through them every type reaches almost all others.
 */
export function partOf(api, wants) {
  const paths = Object.fromEntries(Object.entries(api.paths).filter(([path]) => wants(path)))
  const components = { securitySchemes: api.components.securitySchemes }
  const direct = new Set(referencesIn(paths))
  const waiting = [paths]
  while (waiting.length > 0) {
    for (const reference of referencesIn(waiting.pop())) {
      const [, , kind, name] = reference.split('/')
      components[kind] ??= {}
      if (Object.hasOwn(components[kind], name)) continue
      const isRelated =
        kind === 'schemas' && !direct.has(reference) && Object.hasOwn(api.components.schemas, `${name}Draft`)
      components[kind][name] = isRelated ? related(name) : api.components[kind][name]
      waiting.push(components[kind][name])
    }
  }
  return { ...api, paths, components }
}

function related(name) {
  return { type: 'object', title: name, description: `An entity of the type ${name}.`, additionalProperties: true }
}

function referencesIn(part) {
  if (typeof part !== 'object' || part === null) return []
  const own = typeof part.$ref === 'string' ? [part.$ref] : []
  return [...own, ...Object.values(part).flatMap(referencesIn)]
}

/**
 * The same for Swagger UI, which sends the examples of optional parameters, and takes a string that holds JSON for a file:
 * examples become words of the description, and the kind of the text is left out.
 */
export function forViewer(part) {
  if (typeof part !== 'object' || part === null) return part
  if (Array.isArray(part)) return part.map(forViewer)
  if (typeof part.in === 'string' && part.schema) return parameterForViewer(part)
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, forViewer(value)]))
}

function parameterForViewer({ example, ...parameter }) {
  const { contentMediaType: _, ...schema } = parameter.schema
  if (parameter.required === true || example === undefined) return { ...parameter, schema, example }
  return { ...parameter, schema, description: `${parameter.description} Example: \`${example}\`` }
}
