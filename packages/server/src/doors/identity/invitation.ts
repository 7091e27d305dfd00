import { OPERATOR } from '@tildebase/tenant'
import { invalidInvitation, type NewCredential } from '@tildebase/tenant/internal'
import type { Call, Route } from '../call.ts'
import { answer, jsonBody } from '../describe/description.ts'
import { ANY_OBJECT, TEXT, whole } from '../describe/schema.ts'
import { json, type Reply } from '../reply.ts'
import { streamRoute } from '../route.ts'
import { INVITATION, SIGNED_IN, signedIn, textsOf } from './answers.ts'
import { demandPassword, passwordsOf } from './passwords.ts'
import { demandSameOrigin } from './same-origin.ts'

/** What a person does with an invitation. Its token comes in the body: it is in no log and in no history of a browser. */
export const invitationRoutes: readonly Route[] = [
  streamRoute('POST /invitation', {
    summary: 'Read an invitation',
    needs: 'no key',
    repeats: true,
    body: INVITATION,
    answers: { 200: answer(ANY_OBJECT) },
    handle: read,
  }),
  streamRoute('POST /invitation/accept', {
    summary: 'Accept an invitation with a password',
    needs: 'no key',
    repeats: true,
    uses: 'passwords',
    body: jsonBody(
      whole({ token: TEXT, password: TEXT }),
      { token: 'inv_0VxGq3mZ8kLrT2wYbN4cDe', password: 'correct horse battery' },
      'The token of the invitation, and a password of 12 characters or more.',
    ),
    answers: SIGNED_IN,
    handle: acceptWithPassword,
  }),
]

function read(call: Call): Reply {
  demandSameOrigin(call)
  const { name, email } = invited(call)
  return json(200, { tenant: call.tenant.slug, name, email }, { 'cache-control': 'no-store' })
}

async function acceptWithPassword(call: Call): Promise<Reply> {
  demandSameOrigin(call)
  const passwords = passwordsOf(call)
  const { password } = textsOf(call, ['password'])
  const user = invited(call)
  demandPassword(password, user.email)
  const hash = await passwords.hash(password)
  return accept(call, { id: `password:${user.id}`, kind: 'password', data: { hash } })
}

/** The person that the invitation in the body is for. */
export function invited(call: Call) {
  const { identity } = call.tenant
  const { token } = textsOf(call, ['token'])
  const user = identity.user(identity.find('invitation', token)?.user ?? '')
  if (!user) throw invalidInvitation()
  return user
}

/** Takes the invitation with a credential, and signs the person in. */
export async function accept(call: Call, credential: NewCredential): Promise<Reply> {
  const { tenant, writes, budget } = call
  const { token } = textsOf(call, ['token'])
  const person = { ...OPERATOR, actor: invited(call).id }
  const id = await tenant.write(person, writes, budget, (write) => write.acceptInvitation(token, credential))
  return signedIn(call, tenant.identity.user(id)!, credential.kind)
}
