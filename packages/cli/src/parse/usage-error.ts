/** A mistake in the call of the command, described in one line. */
export class UsageError extends Error {}
