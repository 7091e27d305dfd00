export {
  endOAuth,
  finishOAuth,
  type OAuthOptions,
  oauthAuth,
  type PendingOAuth,
  startOAuth,
  type Tokens,
} from './oauth.ts'
export type { Place } from './place.ts'
export {
  acceptInvitation,
  currentSession,
  type Session,
  type SignedIn,
  signIn,
  signInWithPasskey,
} from './session.ts'
