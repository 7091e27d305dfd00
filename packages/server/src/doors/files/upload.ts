import { type FileValue, fileName, type Json, mediaType, type Noun, Problem, type ValueField } from '@tildebase/nouns'
import type { Operation, TenantWriter } from '@tildebase/tenant'
import type { ReceivedContent } from '@tildebase/tenant/internal'
import { type Call, parseQuery, textParam } from '../call.ts'
import { cellValue, isHalf } from '../format/csv-cell.ts'
import type { Body, HttpRequest } from '../http.ts'
import { boundaryOf, type FormPart, formParts, isMultipart, parameter } from './multipart.ts'

/** What was received before a commit: the files by their fields, and the other fields of a form. */
interface ReceivedForm {
  readonly files: { readonly [field: string]: readonly FileValue[] }
  readonly fields: { readonly [field: string]: Json }
}

/** The text parts of a form are held in memory. */
const MOST_TEXT = 1_048_576

/** The file field that a request sends content to; undefined when the path names a verb, or nothing. */
export function fileField(noun: Noun | undefined, name: string | undefined): ValueField | undefined {
  const field = noun && name !== undefined && Object.hasOwn(noun.fields, name) ? noun.fields[name] : undefined
  return field?.kind === 'file' ? (field as ValueField) : undefined
}

/** The bytes of a request, however they came. */
export function bytesOf(body: Body): AsyncIterable<Uint8Array> | Iterable<Uint8Array> {
  return body === null ? [] : body instanceof Uint8Array ? [body] : body
}

/** Stores the content that is sent to a field of an entity: as the body, or as parts of a form. */
export function receiveForField(call: Call, noun: Noun, field: ValueField): Promise<Call> {
  demandChange(call, noun)
  return receiveInto(call, field)
}

/** Stores content that no entity names yet: the body, or the part `file` of a form. */
export function receiveAlone(call: Call): Promise<Call> {
  call.read.demandSomeWriting()
  return receiveInto(call, ALONE)
}

const ALONE: FileTarget = { name: 'file', list: false }

/** Where received content goes to. */
type FileTarget = Pick<ValueField, 'name' | 'list'>

function receiveInto(call: Call, field: FileTarget): Promise<Call> {
  if (!isMultipart(call.request.headers['content-type'])) {
    return received(call, async (take) => {
      const one = await take(call.request.body, sendingOf(call.request), lengthOf(call.request))
      return { files: { [field.name]: [one] }, fields: {} }
    })
  }
  return received(call, (take) =>
    readForm(call, take, (part) => {
      if (part.name === 'file' || part.name === field.name) return field
      const names = [...new Set(['file', field.name])].join(' or ')
      throw new Problem('invalid_body', `The form may have the part ${names}, not ${part.name}.`, { field: part.name })
    }),
  )
}

/** The value of content that no entity names yet. */
export function valueAlone({ prepared }: Call): FileValue {
  return (prepared as ReceivedForm).files[ALONE.name]![0]!
}

/** Stores the files of a form that creates an entity; its other parts are fields, read as the cells of a CSV file. */
export function receiveForCreate(call: Call, noun: Noun): Promise<Call> {
  call.read.demand(call.query.has('propose') ? 'propose' : 'write', noun)
  return received(call, (take) => readForm(call, take, (part) => fileField(noun, part.name), noun))
}

/** The body of a create or an update with the files that were received. Content for a list is added to its end. */
export function operationWith(call: Call, write: TenantWriter, operation: Operation): Operation {
  const { files, fields } = call.prepared as ReceivedForm
  const noun = call.read.noun(operation.type)
  const data: { [field: string]: Json } = { ...fields }
  for (const [name, values] of Object.entries(files)) {
    const { list } = fileField(noun, name)!
    const own = operation.id === undefined || !list ? [] : listOf(write, noun, operation.id, name)
    data[name] = (list ? [...own, ...values] : (values[0] ?? null)) as unknown as Json
  }
  return { ...operation, data }
}

type Take = (body: Body, sending: Sending, declared?: number | null) => Promise<FileValue>

interface Sending {
  readonly type: string
  readonly name: string
}

/** Receives contents, and removes them again if the rest of the request is refused. */
async function received(call: Call, work: (take: Take) => Promise<ReceivedForm>): Promise<Call> {
  const { files } = call.tenant
  const contents: ReceivedContent[] = []
  const take: Take = async (body, sending, declared = null) => {
    const content = await files.receive(bytesOf(body), sending, declared)
    contents.push(content)
    const { hash, size, type, name } = content
    return { hash, size, type, name }
  }
  try {
    const form = await work(take)
    // What tells this request from another with the same Idempotency-Key.
    const body = new TextEncoder().encode(JSON.stringify(form))
    return {
      ...call,
      request: { ...call.request, body },
      prepared: form,
      writes: { ...call.writes, contents },
    }
  } catch (reason) {
    await files.dropUnneeded(contents)
    throw reason
  }
}

async function readForm(
  { request }: Call,
  take: Take,
  fileFor: (part: FormPart) => FileTarget | undefined,
  noun?: Noun,
): Promise<ReceivedForm> {
  const boundary = boundaryOf(request.headers['content-type'])!
  const files: { [field: string]: FileValue[] } = {}
  const fields: { [field: string]: Json } = {}
  let room = MOST_TEXT
  for await (const part of formParts(bytesOf(request.body), boundary)) {
    const field = fileFor(part)
    if (field === undefined) {
      const text = await textOf(part, room)
      room -= text.length
      const declared = noun && Object.hasOwn(noun.fields, part.name) ? noun.fields[part.name] : undefined
      const value = cellValue(text, declared)
      if (value !== undefined && part.name !== '__proto__') fields[part.name] = value
      continue
    }
    const known = files[field.name] ?? []
    files[field.name] = known
    if (known.length > 0 && !field.list)
      throw new Problem('invalid_body', `${field.name} holds one file; the form has more.`, { field: field.name })
    known.push(await take(part.body, { type: mediaType(part.type), name: fileName(part.filename) }))
  }
  if (noun === undefined && Object.keys(files).length === 0)
    throw new Problem('invalid_body', 'The form has no file. Send it as the part file.', { field: 'file' })
  return { files, fields }
}

async function textOf({ name, body }: FormPart, room: number): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decode = (chunk?: Uint8Array) => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined })
    } catch {
      throw notText(name)
    }
  }
  let text = ''
  for await (const chunk of body) {
    text += decode(chunk)
    if (text.length > room)
      throw new Problem('too_large', `The fields of a form may have at most ${MOST_TEXT} bytes.`, {
        field: name,
        limit: MOST_TEXT,
      })
  }
  text += decode()
  if (isHalf(text)) throw notText(name)
  return text
}

function notText(field: string): Problem {
  return new Problem('invalid_body', `The part ${field} of the form is not UTF-8 text.`, { field })
}

/** Type and name of a body: `Content-Disposition` beats `?name=`. */
function sendingOf({ headers, query }: HttpRequest): Sending {
  const given = parameter(`;${headers['content-disposition'] ?? ''}`, 'filename')
  return {
    type: mediaType(headers['content-type']),
    name: fileName(decoded(given) ?? textParam(parseQuery(query), 'name')),
  }
}

/** Headers come as Latin-1: a name in UTF-8 has to be put together again. */
function decoded(text: string | null): string | null {
  if (text === null || !/[\u0080-\u00ff]/.test(text) || /[\u0100-\uffff]/.test(text)) return text
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(text, (letter) => letter.charCodeAt(0)))
  } catch {
    return text
  }
}

function lengthOf({ headers }: HttpRequest): number | null {
  const length = headers['content-length']
  return length === undefined ? null : Number(length)
}

/** Refuses content for an entity that the caller cannot change, before the content is received. */
function demandChange(call: Call, noun: Noun): void {
  const { read, query, params } = call
  read.demand(query.has('propose') ? 'propose' : 'write', noun)
  if (Object.hasOwn(noun.verbs, 'update')) return
  throw new Problem('method_not_allowed', `${noun.name} has no verb update.`, { type: noun.name, id: params.id! })
}

function listOf({ read }: TenantWriter, noun: Noun, id: string, field: string): readonly FileValue[] {
  const { data } = read.get(noun, id)
  const value = (JSON.parse(data) as { [field: string]: unknown })[field]
  return Array.isArray(value) ? value : []
}
