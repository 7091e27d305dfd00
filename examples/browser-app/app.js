import { accessToken, connect, disconnect, finish } from './oauth.js'

const byId = (id) => document.getElementById(id)

/** One request to the tenant, with the token of the person who is connected. */
async function request(method, path, body) {
  const { issuer, token } = await accessToken()
  const response = await fetch(`${issuer}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.message)
  return answer
}

async function show() {
  const [{ user }, { results }] = await Promise.all([
    request('GET', '/session'),
    request('GET', '/Contact?sort=name&limit=50'),
  ])
  byId('person').textContent = user.email
  byId('list').replaceChildren(
    ...results.map(({ name }) => Object.assign(document.createElement('li'), { textContent: name })),
  )
  byId('connect').hidden = true
  byId('contacts').hidden = false
}

/** Runs work and shows what went wrong with it. */
const attempt = (work) => async (event) => {
  event?.preventDefault()
  byId('message').textContent = ''
  await work(event).catch((reason) => {
    byId('message').textContent = reason.message
  })
}

byId('connect').addEventListener(
  'submit',
  attempt(async ({ target }) => connect(target.url.value.replace(/\/+$/, ''), target.tenant.value)),
)
byId('add').addEventListener(
  'submit',
  attempt(async ({ target }) => {
    await request('POST', '/Contact', { name: target.name.value })
    target.reset()
    await show()
  }),
)
byId('leave').addEventListener(
  'click',
  attempt(async () => {
    await disconnect()
    location.reload()
  }),
)
attempt(async () => {
  if (await finish()) await show()
})()
