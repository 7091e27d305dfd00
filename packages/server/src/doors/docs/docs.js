/** A page to read the OpenAPI document of a tenant and to try it. Swagger UI shows the operations of one type at a time. */

import { forViewer, partOf } from './part.js'

const who = document.querySelector('#who')
const notice = document.querySelector('#notice')
const find = document.querySelector('#find')
const list = document.querySelector('#list')
const viewer = document.querySelector('#viewer')

let api = null
let headers = {}

// The page may be that of a tenant: /~acme/docs, or /crm/~acme/docs.
const [, prefix = '', own = ''] = /^(.*)\/~([^/]+)\/docs\/?$/.exec(location.pathname) ?? []
who.elements.tenant.value = own

const dark = matchMedia('(prefers-color-scheme: dark)')
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', follow)
follow()

who.addEventListener('submit', async (event) => {
  event.preventDefault()
  const base = `${prefix}/~${who.elements.tenant.value}`
  headers = await headersFor(base, who.elements.key.value.trim())
  const response = await fetch(`${base}/openapi.json`, { headers })
  const answer = await response.json()
  if (!response.ok) return tell(answer.message)
  // This host, whichever address the service has elsewhere: the key is sent to no other.
  api = { ...answer, servers: [{ url: `${location.origin}${base}` }] }
  tell(`${Object.keys(api.paths).length} paths.`)
  document.querySelector('#api').hidden = false
  show()
})

find.addEventListener('input', show)

/** What every request carries: the key, or the token of the session for writes. */
async function headersFor(base, key) {
  if (key !== '') return { authorization: `Bearer ${key}` }
  const response = await fetch(`${base}/session`)
  if (!response.ok) return {}
  const { csrf } = await response.json()
  return csrf ? { 'x-tilde-csrf': csrf } : {}
}

/** Lists the operations that have all the words looked for, by type. */
function show() {
  const words = find.value.toLowerCase().split(/\s+/)
  const groups = new Map()
  for (const [path, item] of Object.entries(api.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      const text = `${method} ${path} ${operation.summary}`.toLowerCase()
      if (!words.every((word) => text.includes(word))) continue
      const group = groupOf(path)
      groups.set(group, [...(groups.get(group) ?? []), { path, method, operation, group }])
    }
  }
  const order = [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1))
  list.replaceChildren(...order.map(([group, operations]) => section(group, operations, words[0] !== '')))
}

/** Each type separately, and the endpoints of the whole tenant together. */
function groupOf(path) {
  const [, first = ''] = path.split('/')
  return /^[A-Z]/.test(first) ? first : 'tenant'
}

function section(group, operations, open) {
  const details = element('details', element('summary', `${group} (${operations.length})`))
  details.open = open
  details.append(element('ul', ...operations.map((one) => element('li', opener(one)))))
  return details
}

function opener(one) {
  const button = element('button', element('span', one.method.toUpperCase()), ` ${one.path}`)
  button.type = 'button'
  button.title = one.operation.summary
  button.firstChild.className = 'method'
  button.addEventListener('click', () => open(one))
  return button
}

/** Shows the operations of a group, with one of them open. */
function open({ operation, group }) {
  const node = element('div')
  viewer.replaceChildren(node)
  const [tag] = operation.tags
  const ui = globalThis.SwaggerUIBundle({
    domNode: node,
    spec: forViewer(partOf(api, (path) => groupOf(path) === group)),
    docExpansion: 'list',
    defaultModelsExpandDepth: -1,
    defaultModelExpandDepth: 3,
    tryItOutEnabled: true,
    displayRequestDuration: true,
    validatorUrl: null,
    requestInterceptor: (request) => ({ ...request, headers: { ...request.headers, ...headers } }),
    onComplete() {
      ui.layoutActions.show(['operations', tag, operation.operationId], true)
      requestAnimationFrame(() => {
        viewer.querySelector(`[id="operations-${tag}-${operation.operationId}"]`)?.scrollIntoView()
      })
    },
  })
}

function element(name, ...children) {
  const made = document.createElement(name)
  made.append(...children)
  return made
}

function tell(text) {
  notice.textContent = text
}
