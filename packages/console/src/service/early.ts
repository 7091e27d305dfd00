declare global {
  /** Answers by path that the script in `index.html` asked for with the cookie, before the program was there. */
  var early: Map<string, Promise<Response | null>> | undefined
}

/** Fetches a path of this server. What was asked for early is used once. */
export async function fetchEarly(path: string, init: RequestInit): Promise<Response> {
  const asked = globalThis.early?.get(path)
  globalThis.early?.delete(path)
  return (await asked) ?? fetch(path, init)
}

/** Drops what was not used: the person who asked for it is not the one who is signed in. */
export function forgetEarly(): void {
  globalThis.early?.clear()
}
