/** The operator's key in tests. */
export const ROOT = 'root-key-of-the-tests-which-is-long-enough'
