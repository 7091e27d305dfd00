import { type Answers, answer } from '../describe/description.ts'
import { either, ref } from '../describe/schema.ts'
import { json, type Reply } from '../reply.ts'

/** An error in the words of OAuth. */
export class OAuthError extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** The answers with these codes. Errors that are not about OAuth are as those of every endpoint. */
export function oauthErrors(...codes: readonly string[]): Answers {
  const answers: { [status: number]: Answers[number] } = {}
  for (const [status, some] of Map.groupBy(new Set(['invalid_client', ...codes]), statusOf)) {
    const examples = some.map((code) => [code, { value: { error: code, error_description: 'The reason.' } }])
    answers[status] = answer(either(ref('OAuthError'), ref('Error')), {
      description: `${some.join(', ')}: the error codes of OAuth.`,
      examples: Object.fromEntries(examples),
    })
  }
  return answers
}

function statusOf(code: string): number {
  return code === 'invalid_client' ? 401 : 400
}

const NO_STORE = { 'cache-control': 'no-store', pragma: 'no-cache' }

export function oauthReply(value: object, status = 200): Reply {
  return json(status, value, NO_STORE)
}

/** Answers with what `work` answers, or with its error in the words of OAuth. */
export async function withOAuthErrors(work: () => Reply | Promise<Reply>): Promise<Reply> {
  try {
    return await work()
  } catch (reason) {
    if (!(reason instanceof OAuthError)) throw reason
    return oauthReply({ error: reason.code, error_description: reason.message }, statusOf(reason.code))
  }
}
