/** A mistake in a setting, described in one line. */
export class SettingError extends Error {}
