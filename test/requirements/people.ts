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
    'people.csrf': 'A write with a cookie requires the session token in X-Tilde-CSRF.',
  },
})
