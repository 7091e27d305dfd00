/**
 * The first code in every interpreter: makes `$` and `console` from three functions of the host that take and give
 * nothing but texts and numbers, and gives the host two functions to call in return.
 */
export const PRELUDE = `((post, print, finish) => {
  'use strict'
  const { parse, stringify } = JSON
  const { String, Error, Promise, Proxy, Map, TypeError } = globalThis
  const waiting = new Map()
  let calls = 0

  const call = (name, args) =>
    new Promise((done, failed) => {
      const text = stringify(args, (_, value) => (typeof value === 'bigint' ? String(value) : value))
      waiting.set(++calls, { done, failed })
      post(calls, name, text)
    })

  const plain = (key) => typeof key === 'string' && key !== 'then'
  const typeNamed = (type) =>
    new Proxy(() => {}, {
      get: (_, operation) => (plain(operation) ? (...args) => call(type + '.' + operation, args) : undefined),
      apply: (_, self, args) => call(type, args),
    })
  const $ = new Proxy({}, { get: (_, type) => (plain(type) ? typeNamed(type) : undefined) })

  const shown = (value) => {
    if (typeof value === 'string') return value
    if (value instanceof Error) return String(value)
    try {
      return stringify(value) ?? String(value)
    } catch {
      return String(value)
    }
  }
  const log = (...values) => print(values.map(shown).join(' '))
  globalThis.console = { log, info: log, warn: log, error: log, debug: log, trace: log }

  const told = (error) => {
    const known = typeof error === 'object' && error !== null
    return stringify({
      name: known ? String(error.name ?? '') : '',
      message: known ? String(error.message ?? shown(error)) : shown(error),
      stack: known ? String(error.stack ?? '') : '',
      reason: known && typeof error.code === 'string' ? error.code : undefined,
    })
  }

  const start = (main, values) => {
    const given = parse(values)
    main($, ...Object.values(given)).then(
      (value) => {
        let text
        try {
          text = stringify(value) ?? 'null'
        } catch (error) {
          return finish(1, stringify({ name: '', message: 'The result cannot be written as JSON: ' + error.message, stack: '' }))
        }
        finish(0, text)
      },
      (error) => finish(1, told(error)),
    )
  }

  const settle = (number, ok, text) => {
    const { done, failed } = waiting.get(number)
    waiting.delete(number)
    if (ok) return done(parse(text))
    const { message, ...facts } = parse(text)
    failed(Object.assign(new Error(message), facts))
  }

  return { start, settle }
})`
