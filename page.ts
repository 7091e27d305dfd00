import { createServer } from 'node:http'
import { tildebase } from '@tildebase/client'

const $ = tildebase({ tenant: 'start', apiKey: process.env.TILDE_KEY!, baseUrl: process.env.TILDE_URL })

createServer(async ({ url = '/' }, response) => {
  const asOf = new URL(url, 'http://page').searchParams.get('asOf') ?? undefined
  const contacts = await $.Contact.find({}, { sort: { name: 1 }, asOf })
  const rows = contacts.map(({ name, stage }) => `<li>${name.replaceAll('<', '&lt;')}: ${stage}</li>`)
  response.setHeader('content-type', 'text/html; charset=utf-8')
  response.end(`<!doctype html><title>Contacts</title><h1>${contacts.total} contacts</h1><ul>${rows.join('')}</ul>`)
}).listen(4321)
