/** What the build makes: the modules of each isolate, programs of WebAssembly as base64. */
declare module '#isolates' {
  export const ISOLATES: {
    readonly [name in 'sandbox' | 'passwords']: {
      readonly main: string
      readonly wasm: { readonly [file: string]: string }
    }
  }
}
