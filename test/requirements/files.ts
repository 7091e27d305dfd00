import { requirements } from './requirement.ts'

/** Content with history, rights and proof. */
export const files = requirements('rest', {
  U1: {
    'file.kind': 'A field has the kind file or file[].',
    'file.value': 'The value of a file is {hash, size, type, name} and nothing else.',
    'file.write.hash': 'A write names a file by its hash, alone or with a name.',
    'file.asset': 'filename, mimeType, extension, size, width and height of an Asset follow its file unless given.',
    'file.asset.url': 'url of an Asset is the address of its content.',
    'file.filter': 'Filters reach the parts of a file.',
    'file.changeset': 'The diff of a changeset names both versions of a file.',
    'file.follow': 'Events, streams, webhooks and sync carry the values of files, and no bytes.',
  },
  U2: {
    'file.upload': 'POST …/:Type/:id/:field stores the body and sets the field with one update; 200 with the entity.',
    'file.upload.name': 'Type and name come from Content-Type and from Content-Disposition or ?name=.',
    'file.upload.update': 'If-Match, Idempotency-Key, propose and BEFORE hooks hold for an upload as for any update.',
    'file.upload.list': 'An upload to a file[] field appends.',
    'file.upload.form': 'A form has the content as the part file, or as a part named like the field.',
    'file.create.form':
      'A form creates an entity: parts named like file fields are content, others are read as CSV cells.',
    'file.client': 'The clients and the command line send, read and link content.',
    'file.client.pieces': 'The client sends large content in pieces, and continues an upload that was interrupted.',
    'file.cli': 'tilde Type.upload, Type.download, Type.link, and --file on create and update.',
    'file.store': 'POST …/files stores content without an entity and answers 201 with the value.',
    'file.store.scope': 'POST …/files needs write on any type.',
    'file.orphans': 'Content that no event, proposal or running upload names is removed after TILDE_FILE_ORPHANS.',
    'file.foreign': 'Content that the tenant lacks, or that the caller neither reads nor sent, is the same 422.',
    'file.reserved': 'files and uploads are reserved paths.',
    'file.names': 'A file field is not named like a verb of its type, history, diff, timers or runs.',
  },
  U3: {
    'file.download': 'GET …/:Type/:id/:field returns the bytes, of lists at …/:field/:n.',
    'file.download.range': 'A download has a strong ETag (the hash), HEAD, Range and If-None-Match.',
    'file.download.safe': 'A download is an attachment, unless inline is asked for a type that runs nothing.',
    'file.download.asOf': 'asOf returns the content of that time.',
    'file.download.rights': 'Reading content needs read access to the entity, at that time; there is no read by hash.',
    'file.mcp': 'fetch of MCP returns the text of small text files, and links to other files.',
    'file.link': 'A link shows the content without a key until it expires, for at most 7 days.',
    'file.link.rights': 'A link shows no more than its maker may still read.',
  },
  U4: {
    'file.stream': 'Uploads and downloads of any size stream: memory does not grow with the file.',
    'file.limit':
      'A file above TILDE_FILE_LIMIT, or content above TILDE_FILES_TOTAL, is refused with 413 and the limit.',
    'file.interrupted': 'An interrupted upload leaves nothing.',
    'file.tus': 'Resumable uploads follow tus 1.0.0: core, creation, checksum, expiration, termination.',
    'file.tus.hash': 'The last PATCH and HEAD of a finished upload carry Upload-Hash.',
    'file.tus.expires': 'Unfinished uploads expire after TILDE_FILE_ORPHANS.',
  },
  U5: {
    'file.durable': 'Content is durable before the event that names it is acknowledged.',
    'file.once': 'Content is stored once per tenant by its hash.',
    'file.bucket': 'With TILDE_FILES=s3://bucket/prefix content is in an S3-compatible store.',
    'file.r2': 'On Cloudflare content is in R2.',
    'file.isolated': 'Tenants never share content.',
  },
  U6: {
    'file.backup': 'A backup as a single file carries the content.',
    'file.backup.folder': 'A backup in a folder carries the content; a second one copies only new content.',
    'file.log': 'A PUT of a log answers which hashes are missing; GET and PUT …/files/:hash carry the bytes.',
    'file.fork': 'A fork has the content of its origin, as its own.',
    'file.verify': 'Verifying a tenant compares stored content with its hash.',
    'file.export': 'tilde export --files writes a folder with the bytes, which tilde import takes: the same entities.',
    'file.delete': 'Deleting a tenant removes its content.',
    'file.erase': 'An erasure removes the bytes when no other entity names them.',
  },
  U7: {
    'backup.bucket': 'tilde backup --to s3://bucket/prefix saves tenants to a bucket, with their files.',
    'backup.bucket.follow': 'With --follow, a restore from the bucket loses at most 1 s of acknowledged writes.',
    'backup.bucket.moment': 'A restore from the bucket works to any event, as with a folder.',
  },
})
