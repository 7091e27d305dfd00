/** A mistake in a setting, told in one line. */
export class SettingError extends Error {}
