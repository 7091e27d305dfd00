const STORE = 'tildebase.uploads'
const MOST = 50

/** The unfinished upload of a file to a field, also after a reload. */
export function keptUpload(print: string): string | undefined {
  return all()[print]
}

export function keepUpload(print: string, upload: string): void {
  const { [print]: _, ...others } = all()
  store(Object.fromEntries([...Object.entries(others), [print, upload]].slice(-MOST)))
}

export function forgetUpload(print: string): void {
  const { [print]: known, ...others } = all()
  if (known !== undefined) store(others)
}

function store(uploads: { readonly [print: string]: string }): void {
  try {
    localStorage.setItem(STORE, JSON.stringify(uploads))
  } catch {
    // Without room an upload continues in this tab only.
  }
}

function all(): { readonly [print: string]: string } {
  try {
    return JSON.parse(localStorage.getItem(STORE) ?? '{}')
  } catch {
    return {}
  }
}
