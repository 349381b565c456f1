/** Prefix of these keys. Group keys begin with a channel's id. */
const UNDELIVERED = "undelivered";

/** Maximum length of the message excerpt, in UTF-16 code units. */
const MAX_TEXT = 200;

/** Returns the storage key of a session's undelivered messages, which its next run reads. */
export function getUndeliveredKey(sessionKey: string): string {
  return JSON.stringify([UNDELIVERED, sessionKey]);
}

/** Returns true if a key comes from {@link getUndeliveredKey}. */
export function isUndeliveredKey(key: string): boolean {
  return key.startsWith(`["${UNDELIVERED}",`);
}

/** Describes an undelivered message, with the platform's reason. */
export function createUndeliveredBody(text: string, reason: string): Readonly<Record<"text", string>> {
  const start = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT).toWellFormed()}…` : text;
  return { text: `Not delivered: ${reason}\n\n${start}` };
}
