/** What a tool answered, as the host passes it on. */
export interface ToolResult {
  readonly structuredContent?: Fields
  readonly content?: readonly { readonly type: string; readonly text?: string }[]
  readonly isError?: boolean
  readonly _meta?: Fields
}

export type Fields = { readonly [name: string]: unknown }

/** The host of this page: it alone reaches the service. */
export interface Host {
  /** Calls a tool, with the consent of the host. */
  call(name: string, args: Fields): Promise<ToolResult>
  /** Opens an address in the browser of the person. */
  open(url: string): Promise<void>
}

/** What a page does with the results of its tool. */
export type Show = (host: Host, result: ToolResult, input: Fields) => void

interface Message {
  readonly id?: number | string
  readonly method?: string
  readonly params?: Fields
  readonly result?: unknown
  readonly error?: { readonly message?: string }
}

const REVISION = '2026-01-26'

/** Connects this page with its host, and shows each result of its tool. */
export function connect(name: string, show: Show): void {
  const waiting = new Map<number, { done: (value: never) => void; failed: (reason: Error) => void }>()
  let input: Fields = {}
  let last = 0
  const post = (message: Message) => window.parent.postMessage({ jsonrpc: '2.0', ...message }, '*')
  const ask = <T>(method: string, params: Fields): Promise<T> =>
    new Promise((done, failed) => {
      const id = ++last
      waiting.set(id, { done, failed })
      post({ id, method, params })
    })
  const host: Host = {
    call: (tool, args) => ask('tools/call', { name: tool, arguments: args }),
    open: async (url) => {
      const { isError } = await ask<{ isError?: boolean }>('ui/open-link', { url })
      if (isError) throw new Error(`Open this address yourself: ${url}`)
    },
  }
  const receive: { readonly [method: string]: (params: Fields) => void } = {
    'ui/notifications/tool-input': (params) => {
      input = (params.arguments as Fields | undefined) ?? {}
    },
    'ui/notifications/tool-result': (params) => show(host, params as ToolResult, input),
    'ui/notifications/tool-cancelled': () => say('The call was cancelled.'),
    'ui/notifications/host-context-changed': (params) => applyContext(params),
  }
  window.addEventListener('message', (event: MessageEvent<Message>) => {
    if (event.source !== window.parent) return
    const { id, method, params = {}, result, error } = event.data
    if (method !== undefined) {
      receive[method]?.(params)
      if (id !== undefined) post({ id, result: {} })
      return
    }
    const answer = waiting.get(Number(id))
    waiting.delete(Number(id))
    if (error) answer?.failed(new Error(error.message ?? 'The host refused it.'))
    else answer?.done(result as never)
  })
  ask<{ hostContext?: Fields }>('ui/initialize', {
    protocolVersion: REVISION,
    appInfo: { name: `tildebase-${name}`, version: '0.1.0' },
    appCapabilities: {},
  }).then(({ hostContext }) => {
    applyContext(hostContext ?? {})
    post({ method: 'ui/notifications/initialized', params: {} })
    new ResizeObserver(() => {
      const { scrollWidth: width, scrollHeight: height } = document.documentElement
      post({ method: 'ui/notifications/size-changed', params: { width, height } })
    }).observe(document.body)
  })
}

/** Says something below the view, which screen readers read out. */
export function say(text: string): void {
  document.getElementById('status')!.textContent = text
}

/** Follows the theme and the colours of the host. */
function applyContext({ theme, styles, locale }: Fields): void {
  const root = document.documentElement
  if (theme === 'light' || theme === 'dark') root.dataset.theme = theme
  if (typeof locale === 'string') root.dataset.locale = locale
  const { variables } = (styles as { variables?: Fields } | undefined) ?? {}
  for (const [name, value] of Object.entries(variables ?? {}))
    if (name.startsWith('--') && typeof value === 'string') root.style.setProperty(name, value)
}
