import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Reply } from './host.ts'

/** One answer of the service to a request below a tenant. */
export interface Exchange {
  readonly method: string
  /** Below the tenant, without the query: `/Contact/contact_1`. */
  readonly path: string
  readonly reply: Reply
}

/** Holds answers against an OpenAPI document, as a proxy between client and server would. */
export class Judge {
  readonly #document: any
  readonly #ajv = new Ajv2020({ strict: false, formats: FORMATS })
  readonly #validators = new Map<string, ValidateFunction>()
  readonly #templates: readonly { readonly template: string; readonly parts: readonly string[] }[]

  constructor(document: any) {
    this.#document = document
    this.#ajv.addSchema({ components: document.components }, 'document')
    this.#templates = Object.keys(document.paths)
      .map((template) => ({ template, parts: template.split('/').slice(1) }))
      .toSorted((a, b) => a.template.split('{').length - b.template.split('{').length)
  }

  /** Where an answer differs from the document: a sentence, or null. */
  difference({ method, path, reply }: Exchange): string | null {
    const about = `${method} ${path} ${reply.status}`
    const template = this.#templateOf(path)
    const operation = template === null ? undefined : this.#document.paths[template][method.toLowerCase()]
    if (operation === undefined)
      return [404, 405].includes(reply.status) ? null : `${about}: the document has no such operation`
    return this.differs(operation, reply, about)
  }

  /** The same for an operation of the document. */
  differs(operation: any, { status, headers, body, text }: Reply, about: string): string | null {
    const said = operation.responses[status]
    if (said === undefined) return `${about}: the document has no such status. ${text.slice(0, 200)}`
    const { content } = said.$ref ? this.#document.components.responses[said.$ref.split('/').at(-1)] : said
    // The answer to a proposal is named in words alone.
    if (text === '' || (status === 202 && content === undefined)) return null
    const [kind = ''] = (headers.get('content-type') ?? '').split(';')
    const media = content?.[kind]
    if (media === undefined) return `${about}: the document has no answer of ${kind}`
    if (kind !== 'application/json') return null
    const valid = this.#validator(media.schema)
    return valid(body) ? null : `${about}: ${JSON.stringify(valid.errors)} in ${text.slice(0, 300)}`
  }

  #templateOf(path: string): string | null {
    const segments = path.split('/').slice(1)
    const found = this.#templates.find(
      ({ parts }) =>
        parts.length === segments.length && parts.every((part, i) => part.startsWith('{') || part === segments[i]),
    )
    return found?.template ?? null
  }

  #validator(schema: object): ValidateFunction {
    const text = JSON.stringify(schema).replaceAll('"#/components', '"document#/components')
    const validator = this.#validators.get(text) ?? this.#ajv.compile(JSON.parse(text))
    this.#validators.set(text, validator)
    return validator
  }
}

const FORMATS = {
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/,
  date: /^\d{4}-\d\d-\d\d$/,
  uri: (text: string) => URL.canParse(text),
  binary: true,
} as const
