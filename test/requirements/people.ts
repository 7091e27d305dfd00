import { requirements } from './requirement.ts'

/** People who sign in, and agents that act for them. */
export const people = requirements('keys', {
  P1: {
    'people.invite': 'User.invite returns a URL that is valid once, for 7 days; its person is active after it.',
  },
  P2: {
    'people.roles':
      'Admin is admin:all, Member is write:all without keys, webhooks, types and hooks, Viewer is read:all.',
    'people.roles.own': 'A tenant defines roles with scopes and row filters that refer to the person.',
    'people.roles.change': 'A role change takes effect on the next request.',
    'people.cover': 'A caller cannot give a role, nor change a person, whose rights it does not hold.',
    'people.self': 'Address, role and status of a person are changed by administrators.',
    'people.actor': 'Events caused by a person name the person as actor.',
  },
  P3: {
    'people.session': 'Signing in sets an HttpOnly cookie for the path of the tenant, Secure except on localhost.',
    'people.session.end': 'DELETE …/session ends a session.',
    'people.sessions': 'Users list and end their own sessions, administrators those of others.',
    'people.suspend': 'Suspending a person ends their sessions at once.',
    'attack.csrf': 'A page of another site can neither sign a browser in nor decide for a person.',
    'attack.cors': 'A page of another site gets no answer to a request with a cookie.',
    'attack.fixation': 'Signing in always starts a new session.',
    'attack.enumeration': 'Answers do not reveal whether an account exists.',
    'attack.timing': 'An attempt costs one hash, whether or not the account exists.',
    'attack.brute': 'Failed sign-ins are throttled per account and address.',
    'people.csrf': 'A write with a cookie requires the session token in X-Tilde-CSRF.',
  },
  P4: {
    'oauth.metadata': 'Each tenant has RFC 9728 and RFC 8414 metadata.',
    'oauth.challenge': 'Every 401 of a tenant names its resource metadata.',
    'oauth.mcp': 'The official MCP client connects through the consent page, in both revisions.',
    'oauth.consent': 'The consent page shows client, tenant and scopes, and cannot be framed.',
    'oauth.narrow': 'The person can narrow scopes, rows and verbs, and limit writes and rows.',
    'oauth.tokens': 'Tokens are stored as hashes, listed and revocable.',
    'oauth.refresh': 'Refresh tokens rotate; reuse revokes the family.',
    'oauth.revoke': 'A client can revoke its tokens.',
    'oauth.suspend': 'Suspending a person ends the tokens of their agents at once.',
    'oauth.resource': 'A token is bound to the resource that the client asked for.',
    'oauth.document': 'A client ID metadata document stands for a registration.',
    'attack.redirect': 'A code goes only to an address that the client registered.',
    'attack.pkce': 'PKCE with S256 cannot be left out or weakened.',
    'attack.mixup': 'Authorization answers name their issuer.',
    'attack.replay': 'A code that comes again ends the tokens that it led to.',
    'attack.injection': 'A code is bound to its client and its redirect.',
    'attack.tenant': 'A token of one tenant opens nothing at another.',
    'attack.ssrf': 'Client documents are read from public https addresses only, and for a signed-in person only.',
    'oauth.device': 'A program without a browser is connected by a code that a person enters.',
  },
})
