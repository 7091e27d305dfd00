import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { place } from '../place.ts'
import { farewell, open, tenantOf } from '../session.ts'
import { Labelled, Trouble } from './basics.tsx'

/** The way in: a tenant and a key that opens it. */
export function KeyBox() {
  const id = useId()
  const [key, setKey] = useState('')
  const [tenant, setTenant] = useState(place.value.tenant ?? '')
  const [keep, setKeep] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const [busy, setBusy] = useState(false)
  const first = useRef<HTMLInputElement>(null)
  useEffect(() => first.current?.focus(), [])
  const write = (text: string) => {
    setKey(text)
    const named = tenantOf(text)
    if (named) setTenant(named)
  }
  const enter = async () => {
    setBusy(true)
    setError(null)
    const refusal = await tryKey(tenant.trim(), key.trim())
    setBusy(false)
    if (refusal) return setError(refusal)
    open({ tenant: tenant.trim(), key: key.trim() }, keep)
  }
  return (
    <main class="key-box">
      <form
        class="panel"
        onSubmit={(event) => {
          event.preventDefault()
          void enter()
        }}
      >
        <h1>
          <Tilde /> Tildebase
        </h1>
        {farewell.value && <p class="farewell">{farewell.value}</p>}
        <p class="server">
          Server <code>{location.origin}</code>
        </p>
        <Labelled label="Key" for={`${id}-key`}>
          <input
            ref={first}
            id={`${id}-key`}
            type="password"
            autocomplete="off"
            required
            value={key}
            onInput={(event) => write(event.currentTarget.value)}
          />
        </Labelled>
        <Labelled label="Tenant" for={`${id}-tenant`} hint="A key names its own tenant; the operator's key opens any.">
          <input
            id={`${id}-tenant`}
            required
            pattern="[a-z0-9]([a-z0-9\-]{0,61}[a-z0-9])?"
            autocomplete="off"
            spellcheck={false}
            value={tenant}
            onInput={(event) => setTenant(event.currentTarget.value)}
          />
        </Labelled>
        <label class="check">
          <input type="checkbox" checked={keep} onChange={(event) => setKeep(event.currentTarget.checked)} /> Keep the
          key until this tab is closed
        </label>
        <Trouble error={error} />
        <button type="submit" class="primary" disabled={busy} aria-busy={busy}>
          Open
        </button>
      </form>
    </main>
  )
}

export function Tilde() {
  return (
    <svg class="tilde" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M6 19c2.500-7 6.500-7 10-3.500s7.500 3.500 10-3.500" />
    </svg>
  )
}

/** Asks with the key before anything is shown. Null when it opens the tenant. */
async function tryKey(tenant: string, key: string): Promise<Error | null> {
  try {
    const response = await fetch(`${location.origin}/~${tenant}/schema`, {
      headers: { authorization: `Bearer ${key}` },
      cache: 'no-store',
      credentials: 'omit',
    })
    if (response.ok) return null
    const { message } = (await response.json()) as { message: string }
    return new Error(message)
  } catch (reason) {
    return new Error(`The server cannot be reached (${reason}).`)
  }
}
