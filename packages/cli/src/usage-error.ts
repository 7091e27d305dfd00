/** A mistake in how the command was called, told in one line. */
export class UsageError extends Error {}
