import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

/** A device with passkeys, as a browser would ask it: it makes one, and signs with it. */
export class Authenticator {
  readonly id = randomBytes(16)
  readonly #key: KeyObject
  readonly #public: Buffer
  counter = 0

  constructor() {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const { x, y } = publicKey.export({ format: 'jwk' })
    this.#key = privateKey
    // COSE: an EC2 key for ES256 on P-256.
    this.#public = Buffer.concat([
      Buffer.from('a5010203262001215820', 'hex'),
      Buffer.from(x!, 'base64url'),
      Buffer.from('225820', 'hex'),
      Buffer.from(y!, 'base64url'),
    ])
  }

  /** The answer to the options of a registration, for a page at `origin`. */
  create(options: any, origin: string): object {
    const length = Buffer.from([0, this.id.length])
    const made = Buffer.concat([Buffer.alloc(16), length, this.id, this.#public])
    const data = this.#data(options.rp.id, 0x45, made)
    const head = Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746158', 'hex')
    return this.#answer({
      clientDataJSON: client('webauthn.create', options.challenge, origin).toString('base64url'),
      attestationObject: Buffer.concat([head, Buffer.from([data.length]), data]).toString('base64url'),
      transports: ['internal'],
    })
  }

  /** The answer to the options of a sign-in. */
  get(options: any, origin: string, flags = 0x05): object {
    this.counter++
    const data = this.#data(options.rpId, flags)
    const clientData = client('webauthn.get', options.challenge, origin)
    const signed = Buffer.concat([data, createHash('sha256').update(clientData).digest()])
    return this.#answer({
      clientDataJSON: clientData.toString('base64url'),
      authenticatorData: data.toString('base64url'),
      signature: sign('sha256', signed, this.#key).toString('base64url'),
    })
  }

  #data(name: string, flags: number, more = Buffer.alloc(0)): Buffer {
    const count = Buffer.alloc(4)
    count.writeUInt32BE(this.counter)
    return Buffer.concat([createHash('sha256').update(name).digest(), Buffer.from([flags]), count, more])
  }

  #answer(response: object): object {
    const id = this.id.toString('base64url')
    return { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response }
  }
}

function client(type: string, challenge: string, origin: string): Buffer {
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
}
