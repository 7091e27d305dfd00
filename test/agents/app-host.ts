// The page of a host: it shows an app in a frame without a network, with the official bridge.
import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge'

/** What the test gives the page, and what the page tells it. */
interface Given {
  readonly html: string
  readonly input: Record<string, unknown>
  readonly result: never
  readonly theme: 'light' | 'dark'
}

declare global {
  interface Window {
    callTool(params: unknown): Promise<never>
    openLink(url: string): Promise<void>
    showApp(given: Given): Promise<void>
    setContext(context: object): void
  }
}

const POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"

window.showApp = async ({ html, input, result, theme }) => {
  const frame = document.createElement('iframe')
  frame.setAttribute('sandbox', 'allow-scripts')
  frame.title = 'App'
  frame.style.cssText = 'width: 800px; height: 600px; border: 0'
  frame.srcdoc = html.replace('<head>', `<head><meta http-equiv="content-security-policy" content="${POLICY}">`)
  document.body.replaceChildren(frame)
  const bridge = new AppBridge(
    null,
    { name: 'test', version: '1.0.0' },
    { openLinks: {}, serverTools: {} },
    { hostContext: { theme } },
  )
  bridge.oncalltool = (params) => window.callTool(params)
  bridge.onopenlink = async ({ url }) => {
    await window.openLink(url)
    return {}
  }
  window.setContext = (context) => bridge.setHostContext({ theme, ...context })
  const begun = new Promise<void>((done) => {
    bridge.oninitialized = () => done()
  })
  const target = frame.contentWindow!
  await bridge.connect(new PostMessageTransport(target, target))
  await begun
  await bridge.sendToolInput({ arguments: input })
  await bridge.sendToolResult(result)
}
