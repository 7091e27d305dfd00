/** The version of the protocol of resumable uploads, tus. */
export const TUS_VERSION = '1.0.0'

/** What the server says of itself when it is asked with OPTIONS. */
export const TUS_CAPABILITIES: { readonly [name: string]: string } = {
  'tus-resumable': TUS_VERSION,
  'tus-version': TUS_VERSION,
  'tus-extension': 'creation,checksum,expiration,termination',
  'tus-checksum-algorithm': 'sha1,sha256',
}
