/** Prefix of such keys. Keys of groups begin with a channel's id. */
const EDITED = "edited";

/** Returns the key under which edits of answered messages are stored for the next run of their session. */
export function getEditsKey(sessionKey: string): string {
  return JSON.stringify([EDITED, sessionKey]);
}

/** Returns true if a key comes from {@link getEditsKey}. */
export function isEditsKey(key: string): boolean {
  return key.startsWith(`["${EDITED}",`);
}
