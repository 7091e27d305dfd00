/** A page to read the OpenAPI document of a tenant and to try what it says. */

const who = document.querySelector('#who')
const notice = document.querySelector('#notice')
const find = document.querySelector('#find')
const list = document.querySelector('#list')
const article = document.querySelector('#operation')

let api = null
let key = ''

// The page may be that of a tenant: /~acme/docs, or /crm/~acme/docs.
const [, prefix = '', own = ''] = /^(.*)\/~([^/]+)\/docs\/?$/.exec(location.pathname) ?? []
who.elements.tenant.value = own

who.addEventListener('submit', async (event) => {
  event.preventDefault()
  key = who.elements.key.value.trim()
  const response = await ask('GET', `${prefix}/~${who.elements.tenant.value}/openapi.json`)
  if (!response.ok) return tell((await response.json()).message)
  api = await response.json()
  tell(`${Object.keys(api.paths).length} paths.`)
  find.disabled = false
  show()
})

find.addEventListener('input', show)

/** Lists the operations that have all the words looked for. */
function show() {
  const words = find.value.toLowerCase().split(/\s+/)
  const groups = new Map()
  for (const [path, item] of Object.entries(api.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      const text = `${method} ${path} ${operation.summary}`.toLowerCase()
      if (!words.every((word) => text.includes(word))) continue
      const [tag] = operation.tags
      groups.set(tag, [...(groups.get(tag) ?? []), { path, method, operation }])
    }
  }
  list.replaceChildren(
    ...[...groups].flatMap(([tag, operations]) => [
      element('h2', tag),
      element('ul', ...operations.map((one) => element('li', opener(one)))),
    ]),
  )
}

function opener(one) {
  const button = element('button', element('span', one.method.toUpperCase()), ` ${one.path}`)
  button.type = 'button'
  button.firstChild.className = 'method'
  button.addEventListener('click', () => open(one))
  return button
}

/** Shows an operation: what it takes, what it answers, and a form to try it. */
function open({ path, method, operation }) {
  const parameters = (operation.parameters ?? []).map(resolved)
  const fields = parameters.map((parameter) => {
    const input = element('input')
    input.name = parameter.name
    input.required = parameter.required === true
    return { parameter, input }
  })
  const content = operation.requestBody?.content['application/json']
  const body = content ? element('textarea') : null
  if (body) {
    body.setAttribute('aria-label', 'Body')
    body.value = JSON.stringify(content.example ?? {}, null, 2)
  }
  const answer = element('pre')
  const send = element('button', 'Send')
  const form = element(
    'form',
    ...fields.map(({ parameter, input }) => {
      const label = element('label', `${parameter.name} `, input)
      label.title = parameter.description ?? ''
      return label
    }),
    ...(body ? [body] : []),
    send,
  )
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    await attempt(path, method, fields, body, answer)
  })
  const answers = Object.entries(operation.responses).map(([status, response]) =>
    element('li', `${status} ${resolved(response).description}`),
  )
  article.replaceChildren(
    element('h2', `${method.toUpperCase()} ${path}`),
    element('p', `${operation.summary}. Needs ${operation['x-scope']}.`),
    form,
    answer,
    element('h3', 'Answers'),
    element('ul', ...answers),
  )
}

async function attempt(path, method, fields, body, answer) {
  let address = path
  const query = new URLSearchParams()
  const headers = {}
  for (const { parameter, input } of fields) {
    if (input.value === '') continue
    if (parameter.in === 'path') address = address.replace(`{${parameter.name}}`, encodeURIComponent(input.value))
    else if (parameter.in === 'query') query.set(parameter.name, input.value)
    else headers[parameter.name] = input.value
  }
  const base = `${prefix}/~${who.elements.tenant.value}`
  const response = await ask(method, `${base}${address}${query.size > 0 ? `?${query}` : ''}`, headers, body?.value)
  const text = await response.text()
  answer.textContent = `${response.status}\n${[...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n')}\n\n${pretty(text)}`
}

function ask(method, path, headers = {}, body) {
  return fetch(path, {
    method: method.toUpperCase(),
    headers: {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    body,
  })
}

/** What a reference of the document represents. */
function resolved(part) {
  if (!part.$ref) return part
  return part.$ref
    .split('/')
    .slice(1)
    .reduce((at, step) => at[step], api)
}

function element(name, ...children) {
  const made = document.createElement(name)
  made.append(...children)
  return made
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

function tell(text) {
  notice.textContent = text
}
