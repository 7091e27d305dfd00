/** The scripts of the pages in this folder as text, which the build makes. */
declare module '#scripts' {
  export const SCRIPTS: { readonly [name in 'sign-in' | 'proof']: string }
}
