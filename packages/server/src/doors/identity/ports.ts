/** What a host offers to sign people in with. What is absent is answered with 501. */
export interface IdentityPorts {
  readonly passwords?: Passwords
  /** Reads the metadata document of an OAuth client, with the guard against private addresses. */
  readonly documents?: Documents
  /** Whether such documents may be read by http, in development. */
  readonly insecureDocuments?: boolean
  readonly oidc?: OidcSettings
}

/** Hashes of passwords: slow on purpose, so they are made off the tenant's thread and few at a time. */
export interface Passwords {
  hash(password: string): Promise<string>
  /** Whether a password has this hash. Without a hash it takes as long and is false. */
  verify(password: string, hash: string | null): Promise<boolean>
}

/** Reads a public JSON document; null when there is none, or it is too large, too slow or not public. */
export interface Documents {
  read(url: string): Promise<string | null>
}

/** The provider that the operator has set. */
export interface OidcSettings {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
}
