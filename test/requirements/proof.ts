import { requirements } from './requirement.ts'

/** What the history of a tenant proves, and to whom. */
export const proof = requirements('proof', {
  S1: {
    'proof.tree': 'The tree over the events is that of RFC 9162; its leaves are the hashes of the chain.',
    'proof.checkpoint': 'GET …/checkpoint returns a signed checkpoint of the origin {host}/~{tenant}.',
    'proof.keys': "The service's public keys are at /.well-known/tilde-keys.",
    'proof.rotation': 'A new key can take the place of the old one, whose public key stays listed.',
    'proof.inclusion': 'GET …/proof/:eventId proves that an event is in the log.',
    'proof.consistency': 'GET …/consistency proves that an earlier log is the beginning of a later one.',
    'proof.rights': 'A proof needs the right to see the event; checkpoints and consistency need a key.',
    'proof.size': 'A proof takes less than 2 kB at ten million events.',
    'proof.crash': 'After a crash the tree is that of the log.',
    'proof.copies': 'Backups, exports and moves continue the tree; a fork names the log that it comes from.',
    'proof.page': 'A proof can be saved as one page that checks itself offline.',
  },
  S2: {
    'proof.witness': 'Witnesses named by TILDE_WITNESSES cosign checkpoints; another Tildebase can be one.',
    'proof.witness.fork':
      'A witness refuses a history that does not continue the one it cosigned, also after a restart.',
    'proof.verifier': 'A verifier of less than 200 lines of Python finds every change of the log by the operator.',
    'proof.erasure': 'Proofs stay valid after an erasure.',
    'proof.verify': 'tilde verify --against finds a rewritten history.',
    'proof.prove': 'tilde prove checks and saves the proof of an event.',
  },
})
