/** A program that the platform compiled. */
declare module '*.wasm' {
  const program: WebAssembly.Module
  export default program
}
