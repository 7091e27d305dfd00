import spectral from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'
import { expect, test } from 'vitest'
import { testApp } from './host.ts'

// Spectral takes half a minute for all types at once; two lenses have every shape there is.
test.each(['crm', 'platform'])('the OpenAPI document is valid for Spectral, as the lens %s shows it', async (lens) => {
  const app = await testApp({ TILDE_WEBHOOKS_INSECURE: '1' })
  await app.request('PUT', '/~acme/schema/Gadget', { name: 'string!', colour: 'Red | Green = Red' })
  const { body } = await app.request('GET', `/${lens}/~acme/openapi.json`)
  const judge = new spectral.Spectral()
  judge.setRuleset({ extends: [rulesets.oas as never] })

  const errors = (await judge.run(body)).filter(({ severity }) => severity === 0)

  expect(errors.map(({ code, message, path }) => `${code} ${message} ${path.join('/')}`)).toEqual([])
  await app.stop()
})
