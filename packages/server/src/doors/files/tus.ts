import { fileName, fromBase64, mediaType, Problem, sameBytes } from '@tildebase/nouns'
import type { PartCheck, ReceivedContent, ReceivedPart, UploadState } from '@tildebase/tenant/internal'
import type { Call, Route } from '../call.ts'
import { DELETED } from '../describe/description.ts'
import { TEXT } from '../describe/schema.ts'
import type { HttpResponse } from '../http.ts'
import { empty, type Reply } from '../reply.ts'
import { errorReply } from '../respond.ts'
import { streamRoute } from '../route.ts'
import { TUS_CAPABILITIES, TUS_VERSION } from './tus-version.ts'
import { bytesOf } from './upload.ts'

const OCTETS = 'application/offset+octet-stream'
const LONGEST_METADATA = 4_096

const ERRORS = [400, 401, 403, 404, 409, 410, 412, 413, 415, 429, 460, 500, 503]
const UPLOADS = { needs: 'write on any area', uses: 'files', rawBody: true, repeats: true, errors: ERRORS } as const

/** Uploads that can be resumed: tus 1.0.0 with creation, checksum, expiration and termination. */
export const uploadRoutes: readonly Route[] = [
  streamRoute('POST /uploads', {
    ...UPLOADS,
    summary: 'Start an upload that can be resumed',
    description: 'Upload-Length is the size; Upload-Metadata takes filename and filetype. Follows tus 1.0.0.',
    body: null,
    answers: { 201: { description: 'The upload is started.', headers: ['Location'] } },
    handle: versioned(begin),
  }),
  streamRoute('GET /uploads/:id', {
    ...UPLOADS,
    summary: 'Read how far an upload is',
    description: 'HEAD and GET answer with Upload-Offset and Upload-Length, and with Upload-Hash once it is finished.',
    answers: { 200: { description: 'The state is in the headers.' } },
    handle: versioned(look),
  }),
  streamRoute('PATCH /uploads/:id', {
    ...UPLOADS,
    summary: 'Send the next bytes of an upload',
    body: {
      description: 'The bytes from Upload-Offset on.',
      required: true,
      content: { [OCTETS]: { schema: { ...TEXT, format: 'binary' }, example: '…' } },
    },
    answers: { 204: { description: 'The bytes are stored. Upload-Offset is how far the upload is.' } },
    handle: versioned(proceed),
  }),
  streamRoute('DELETE /uploads/:id', {
    ...UPLOADS,
    summary: 'End an upload and remove its bytes',
    answers: DELETED,
    handle: versioned(end),
  }),
]

/** Refuses another version of the protocol, and names ours in every answer. */
function versioned(handle: (call: Call) => Promise<Reply>): (call: Call) => Promise<Reply> {
  const handled = async (call: Call) => {
    call.read.demandSomeWriting()
    if (call.request.headers['tus-resumable'] === TUS_VERSION) return handle(call)
    throw new Problem('unsupported_version', `Send the header Tus-Resumable: ${TUS_VERSION}.`, {
      field: 'Tus-Resumable',
      supported: [TUS_VERSION],
    })
  }
  return async (call) => {
    const reply = await handled(call).catch((reason) => errorReply(reason, call.requestId, call.report))
    return { ...reply, headers: { ...ALWAYS, ...(reply.status === 412 && TUS_CAPABILITIES), ...reply.headers } }
  }
}

const ALWAYS = { 'tus-resumable': TUS_VERSION, 'cache-control': 'no-store' }

async function begin(call: Call): Promise<Reply> {
  const { headers } = call.request
  if (headers['upload-defer-length'] !== undefined)
    throw invalidHeader('Upload-Length', 'Upload-Defer-Length is not supported. Send Upload-Length.')
  const size = wholeNumber(headers['upload-length'], 'Upload-Length')
  const metadata = headers['upload-metadata'] ?? ''
  const sending = sendingIn(metadata)
  // An upload without bytes is finished at once.
  const content = size === 0 ? await call.tenant.files.receive([], sending) : null
  const upload = await commit(call, content, (write) => {
    const begun = write.files.beginUpload(size, sending, metadata)
    return content === null ? begun : write.files.admitPart({ upload: begun, part: null, cut: null, content })
  })
  const location = `${call.address}/uploads/${upload.id}`
  return empty(201, { location, ...stateHeaders(upload) })
}

async function look(call: Call): Promise<Reply> {
  const upload = call.tenant.files.upload(call.grant, call.params.id!)
  return empty(200, {
    ...stateHeaders(upload),
    'upload-length': `${upload.size}`,
    ...(upload.metadata !== '' && { 'upload-metadata': upload.metadata }),
  })
}

async function proceed(call: Call): Promise<Reply> {
  const { headers, body } = call.request
  if (mediaType(headers['content-type']) !== OCTETS)
    throw new Problem('unsupported_media_type', `Send the bytes with Content-Type: ${OCTETS}.`, {
      field: 'Content-Type',
    })
  const { files } = call.tenant
  const upload = files.upload(call.grant, call.params.id!)
  const offset = wholeNumber(headers['upload-offset'], 'Upload-Offset')
  if (offset !== upload.offset)
    throw new Problem('conflict', `The upload has ${upload.offset} bytes, not ${offset}.`, { field: 'Upload-Offset' })
  const length = headers['content-length']
  if (length !== undefined && offset + Number(length) > upload.size)
    throw new Problem('too_large', `The upload has ${upload.size} bytes; more were sent.`, { limit: upload.size })
  if (upload.hash !== null) return empty(204, stateHeaders(upload))
  const received = await oneAtATime(upload.id, () =>
    files.receivePart(upload, bytesOf(body), checksumOf(call, headers['upload-checksum'])),
  )
  const state = await admitted(call, received)
  if (received.cut !== null) throw received.cut
  return empty(204, stateHeaders(state))
}

async function end(call: Call): Promise<Reply> {
  await commit(call, null, (write) => write.files.endUpload(call.params.id!))
  return empty(204)
}

async function admitted(call: Call, received: ReceivedPart): Promise<UploadState> {
  try {
    return await commit(call, received.content, (write) => write.files.admitPart(received))
  } catch (reason) {
    await call.tenant.files.dropPart(received)
    throw reason
  }
}

const UNDER_WAY = new Set<string>()

/** Two requests that continue one upload at the same time would both store the same bytes. */
async function oneAtATime<T>(id: string, work: () => Promise<T>): Promise<T> {
  if (UNDER_WAY.has(id)) throw new Problem('conflict', 'Another request continues this upload at the moment.', { id })
  UNDER_WAY.add(id)
  try {
    return await work()
  } finally {
    UNDER_WAY.delete(id)
  }
}

function commit<T>(
  { tenant, grant, writes, budget }: Call,
  content: ReceivedContent | null,
  work: Parameters<typeof tenant.write<T>>[3],
): Promise<T> {
  return tenant.write(grant, { ...writes, ...(content && { contents: [content] }) }, budget, work)
}

function stateHeaders({ offset, expiresAt, hash }: UploadState): HttpResponse['headers'] {
  return {
    'upload-offset': `${offset}`,
    ...(hash === null ? { 'upload-expires': new Date(expiresAt).toUTCString() } : { 'upload-hash': hash }),
  }
}

/** `filename` and `filetype` of `Upload-Metadata`: names, each with a value in base64. */
function sendingIn(metadata: string): { readonly type: string; readonly name: string } {
  if (metadata.length > LONGEST_METADATA)
    throw invalidHeader('Upload-Metadata', `Upload-Metadata may have at most ${LONGEST_METADATA} characters.`)
  const values = new Map(
    metadata.split(',').map((pair) => {
      const [key = '', value = ''] = pair.trim().split(/\s+/)
      return [key, value === '' ? '' : textIn(value)] as const
    }),
  )
  return { type: mediaType(values.get('filetype')), name: fileName(values.get('filename')) }
}

function textIn(base64: string): string {
  const bytes = fromBase64(base64)
  if (bytes === null) throw invalidHeader('Upload-Metadata', 'Upload-Metadata has a value that is not base64.')
  return new TextDecoder().decode(bytes)
}

/** The check that `Upload-Checksum` asks for. */
function checksumOf({ tenant }: Call, header: string | undefined): PartCheck | null {
  if (header === undefined) return null
  const [algorithm = '', text = ''] = header.trim().split(/\s+/)
  const expected = fromBase64(text)
  if ((algorithm !== 'sha1' && algorithm !== 'sha256') || expected === null)
    throw invalidHeader('Upload-Checksum', 'Upload-Checksum must be sha1 or sha256, a space and the digest in base64.')
  const hasher = tenant.files.hasher(algorithm)
  return {
    update: (chunk) => hasher.update(chunk),
    demand() {
      if (sameBytes(hasher.digest(), expected)) return
      throw new Problem('checksum_mismatch', 'The bytes do not match Upload-Checksum. Send them again.', {
        field: 'Upload-Checksum',
      })
    },
  }
}

function wholeNumber(text: string | undefined, name: string): number {
  const value = /^\d{1,15}$/.test(text ?? '') ? Number(text) : Number.NaN
  if (Number.isSafeInteger(value)) return value
  throw invalidHeader(name, `Send the header ${name} with a whole number of bytes.`)
}

function invalidHeader(field: string, message: string): Problem {
  return new Problem('invalid_parameter', message, { field })
}
