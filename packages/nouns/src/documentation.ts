/** Where the documentation is, for people: the pages of `docs/` with a search. */
export const DOCUMENTATION = 'https://tildebase.github.io/tildebase'
