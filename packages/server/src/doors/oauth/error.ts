import { json, type Reply } from '../reply.ts'

/** An error in the words of OAuth. */
export class OAuthError extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
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
    const status = reason.code === 'invalid_client' ? 401 : 400
    return oauthReply({ error: reason.code, error_description: reason.message }, status)
  }
}
