import type { BlobStore, Mail, Outbound, Witness } from '@tildebase/tenant/ports'

/** How the files of tenants are kept elsewhere, too: a file is then a copy, and a commit counts when the other place has it. */
export interface Replication {
  /** Whether a file is that of a tenant, and not some copy of one. */
  covers(path: string): boolean
  committed(slug: string, n: number, changes: Uint8Array, erases: boolean): void
  /** Done when all that the tenant has committed is kept; false when it never will be. */
  gate(slug: string): Promise<boolean>
  /** Whether this node has the tenant. While it is given away its file still lies here, and must not be opened. */
  isHere(slug: string): boolean
  /** The tenant was closed, because another node gets it. */
  left(slug: string): void
  /** The time for a tenant: not before what an owner before this one gave out. */
  now(slug: string): number
}

const NOT_KEPT = { error: 'The event could not be kept on this machine.' }

/** Sends nothing that a tenant made from a commit before that is kept. */
export function heldOutbound(outbound: Outbound, gate: () => Promise<boolean>, owner: string): Outbound {
  return {
    ...(outbound.refuses && { refuses: outbound.refuses.bind(outbound) }),
    send: async (request) => ((await gate()) ? outbound.send({ ...request, owner }) : NOT_KEPT),
  }
}

/** Removes no bytes before the commit that forgot them is kept. */
export function heldBlobs(blobs: BlobStore, gate: () => Promise<boolean>): BlobStore {
  return {
    put: blobs.put.bind(blobs),
    read: blobs.read.bind(blobs),
    has: blobs.has.bind(blobs),
    list: blobs.list.bind(blobs),
    async remove(key) {
      if (!(await gate())) throw new Error(`The commit that forgets ${key} is not kept.`)
      await blobs.remove(key)
    },
  }
}

export function heldMail(mail: Mail, gate: () => Promise<boolean>): Mail {
  return {
    ...mail,
    send: async (message, server) => ((await gate()) ? mail.send(message, server) : { ...NOT_KEPT, isFinal: false }),
  }
}

export function heldWitness(witness: Witness, gate: () => Promise<boolean>): Witness {
  return {
    name: witness.name,
    publicKey: witness.publicKey,
    submit: async (body) => ((await gate()) ? witness.submit(body) : NOT_KEPT),
  }
}
