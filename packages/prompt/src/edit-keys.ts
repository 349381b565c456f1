/** Prefix of these keys. Group keys begin with a channel's id. */
const EDITED = "edited";

/** Returns the storage key of edits of answered messages, which the next run of their session reads. */
export function getEditsKey(sessionKey: string): string {
  return JSON.stringify([EDITED, sessionKey]);
}

/** Returns true if a key comes from {@link getEditsKey}. */
export function isEditsKey(key: string): boolean {
  return key.startsWith(`["${EDITED}",`);
}
