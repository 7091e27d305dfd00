/// <reference path="../cloudflare.d.ts" />
import { WorkerEntrypoint } from 'cloudflare:workers'
import { argon2id } from 'hash-wasm'
import argon2 from './argon2.wasm'
import blake2b from './blake2b.wasm'

/** The bytes of the shorter of the two programs: the build sets it. */
declare const BLAKE2B_LENGTH: number

// A Worker cannot compile WebAssembly: the programs that hash-wasm would compile were compiled when this was loaded.
WebAssembly.compile = async (bytes) => (bytes.byteLength === BLAKE2B_LENGTH ? blake2b : argon2)

/** Derives keys from passwords with Argon2id, in its own isolate. */
export class Passwords extends WorkerEntrypoint {
  derive(password: string, salt: Uint8Array, memory: number, passes: number, length: number): Promise<Uint8Array> {
    return argon2id({
      password,
      salt,
      memorySize: memory,
      iterations: passes,
      parallelism: 1,
      hashLength: length,
      outputType: 'binary',
    })
  }
}
