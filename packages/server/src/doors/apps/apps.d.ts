/** The pages of agents as texts: `packages/server/build.js` makes them of the modules in this folder. */
declare module '#apps' {
  export const APPS: { readonly changeset: string; readonly list: string; readonly entity: string }
}
