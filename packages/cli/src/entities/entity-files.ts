import { openAsBlob } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import type { Collection } from '@tildebase/client'
import type { FileValue, Noun, NounMap } from '@tildebase/nouns'
import type { Call, Command, Flags } from '../command.ts'
import { saveTo } from '../files.ts'
import { progressBar } from '../output/progress.ts'
import { UsageError } from '../parse/usage-error.ts'
import { proposed } from './proposed.ts'
import type { Described } from './type.ts'

/** The flag that sends files with a create or an update. */
export const FILE_FLAG: Flags = {
  file: { type: 'string', multiple: true, help: 'FIELD=@PATH: sends a file and puts it into the field' },
}

const INDEX: Flags = { index: { type: 'string', help: 'the place in a list of files: 0, 1, 2, …' } }

/** The commands of types with file fields. */
export const FILES: { readonly [operation: string]: (noun: Described) => Command } = {
  upload: (noun) => ({
    usage: `${noun.name}.upload ID [FIELD] FILE`,
    summary: 'sends a file and puts it into a field; a list gets one file more',
    flags: {
      name: { type: 'string', help: 'the name of the file; default that of FILE' },
      type: { type: 'string', help: 'its media type; default by the ending of FILE' },
      'if-version': { type: 'string', help: 'write only if the entity has this $version' },
    },
    examples: [`tilde ${noun.name}.upload ID ./contract.pdf`],
    heeds: ['propose'],
    async run(call) {
      const [id, field, path] = placesOf(call, noun, true)
      const version = call.flags.text('if-version')
      const { $ } = call.link()
      const upload = async ($: Call$) => {
        const content = await contentOf(path, call.flags.text('type'))
        const bar = progressBar(process.stderr, content.size)
        const name = call.flags.text('name') ?? basename(path)
        const options = { name, ifVersion: version === undefined ? undefined : Number(version) }
        const onProgress = ({ sent }: { readonly sent: number }) => bar.at(sent)
        return files($, noun)
          .upload(id, field, content, { ...options, onProgress })
          .finally(bar.end)
      }
      const title = call.settings.propose
      if (title === undefined) return call.out.record({ ...(await upload($)) })
      const { $id, title: filed, operations } = (await $.propose(title, upload))!
      proposed(call, { $id, title: filed, operationCount: operations.length })
    },
  }),
  download: (noun) => ({
    usage: `${noun.name}.download ID [FIELD] [-o FILE]`,
    summary: 'saves a file, now or as of a time',
    flags: {
      output: { type: 'string', short: 'o', help: 'the file; - is standard output; default its name' },
      ...INDEX,
    },
    examples: [`tilde ${noun.name}.download ID -o contract.pdf`],
    heeds: ['as-of', 'dry-run'],
    async run(call) {
      const [id, field] = placesOf(call, noun, false)
      const { settings, out } = call
      const response = await files(call.link().$, noun).download(id, field, { asOf: settings.asOf, ...indexOf(call) })
      const path = call.flags.text('output') ?? nameIn(response)
      const bytes = await saveTo(path, response, out)
      if (path !== '-') out.note(`${path}: ${bytes} bytes.`)
    },
  }),
  link: (noun) => ({
    usage: `${noun.name}.link ID [FIELD] [--expires 10m]`,
    summary: 'makes an address that shows a file without a key',
    flags: { expires: { type: 'string', help: '30s, 10m, 24h, at most 7d; default 10m' }, ...INDEX },
    examples: [`tilde ${noun.name}.link ID --expires 24h`],
    async run(call) {
      const [id, field] = placesOf(call, noun, false)
      const expires = call.flags.text('expires') ?? '10m'
      call.out.record({ ...(await files(call.link().$, noun).link(id, field, { expires, ...indexOf(call) })) })
    },
  }),
}

/** The names of a type's file fields. */
export function fileFields({ fields }: Described): readonly string[] {
  return Object.values(fields)
    .filter(({ kind }) => kind === 'file')
    .map(({ name }) => name)
}

/** Sends the files of `--file`, and returns the values for their fields. */
export async function sendFiles(call: Call, noun: Described, verb: string): Promise<{ [field: string]: unknown }> {
  const sent: { [field: string]: FileValue[] } = {}
  for (const text of call.flags.list('file')) {
    const [, field = onlyField(noun), path] = /^(?:(\w+)=)?@(.+)$/.exec(text) ?? []
    if (path === undefined) throw new UsageError(`--file needs FIELD=@PATH, not ${text}.`)
    if (!fileFields(noun).includes(field)) throw new UsageError(`${noun.name} has no file field ${field}.`)
    const { list } = noun.fields[field] as { readonly list?: boolean }
    if (list && verb !== 'create')
      throw new UsageError(`${field} is a list. Add to it with: tilde ${noun.name}.upload ID ${field} ${path}`)
    const content = await contentOf(path)
    const bar = progressBar(process.stderr, content.size)
    const onProgress = (progress: { readonly sent: number }) => bar.at(progress.sent)
    const value = await call
      .link()
      .$.upload(content, { name: basename(path), onProgress })
      .finally(bar.end)
    sent[field] = [...(sent[field] ?? []), value]
    if (!list && sent[field].length > 1) throw new UsageError(`${field} holds one file.`)
  }
  return Object.fromEntries(
    Object.entries(sent).map(([field, values]) => {
      const named = values.map(({ hash, name }) => ({ hash, name }))
      return [field, (noun.fields[field] as { readonly list?: boolean }).list ? named : named[0]]
    }),
  )
}

type Call$ = ReturnType<Call['link']>['$']

function files($: Call$, { name }: Described): Collection<Noun, NounMap> {
  return $[name]!
}

/** The id, the field and, for an upload, the path. A type with one file field needs no name of it. */
function placesOf({ words }: Call, noun: Described, hasPath: boolean): [id: string, field: string, path: string] {
  const [id, ...rest] = words
  if (id === undefined) throw new UsageError('Give the id.')
  const path = hasPath ? rest.pop() : ''
  if (path === undefined) throw new UsageError('Give the file.')
  const [field = onlyField(noun), more] = rest
  if (more !== undefined) throw new UsageError(`Unexpected argument: ${more}.`)
  if (!fileFields(noun).includes(field)) throw new UsageError(`${noun.name} has no file field ${field}.`)
  return [id, field, path]
}

function onlyField(noun: Described): string {
  const [first, other] = fileFields(noun)
  if (first !== undefined && other === undefined) return first
  throw new UsageError(`Name the field: ${noun.name} has ${fileFields(noun).join(', ') || 'no file field'}.`)
}

function indexOf({ flags }: Call): { readonly index?: number } {
  const text = flags.text('index')
  if (text === undefined) return {}
  if (/^\d{1,6}$/.test(text)) return { index: Number(text) }
  throw new UsageError(`--index is a place in the list: 0, 1, 2, …, not ${text}.`)
}

/** The name that the service gives to a download, without any folder. */
function nameIn({ headers }: Response): string {
  const given = headers.get('content-disposition') ?? ''
  const [, encoded] = /filename\*=UTF-8''([^;]+)/i.exec(given) ?? []
  const [, plain] = /filename="([^"]*)"/i.exec(given) ?? []
  return basename(encoded === undefined ? (plain ?? 'file') : decodeURIComponent(encoded)).replace(/^\.+/, '') || 'file'
}

async function contentOf(path: string, type = typeOf(path)): Promise<Blob> {
  const file = await stat(path).catch(() => null)
  if (file?.isDirectory()) throw new UsageError(`${path} is a folder. Name a file.`)
  try {
    // A pipe has its bytes once.
    return file?.isFile() ? await openAsBlob(path, { type }) : new Blob([await readFile(path)], { type })
  } catch {
    throw new UsageError(`The file ${path} cannot be read.`)
  }
}

/** The media type of a file by its ending. */
function typeOf(path: string): string {
  return TYPES[extname(path).slice(1).toLowerCase()] ?? 'application/octet-stream'
}

const TYPES: { readonly [ending: string]: string } = {
  avif: 'image/avif',
  csv: 'text/csv',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  eml: 'message/rfc822',
  gif: 'image/gif',
  gz: 'application/gzip',
  htm: 'text/html',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  md: 'text/markdown',
  mp3: 'audio/mpeg',
  mp4: 'video/mp4',
  odt: 'application/vnd.oasis.opendocument.text',
  ogg: 'audio/ogg',
  pdf: 'application/pdf',
  png: 'image/png',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  svg: 'image/svg+xml',
  txt: 'text/plain',
  wav: 'audio/wav',
  webm: 'video/webm',
  webp: 'image/webp',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  xml: 'application/xml',
  zip: 'application/zip',
}
