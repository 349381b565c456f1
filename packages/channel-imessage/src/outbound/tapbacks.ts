/** Tapbacks that all versions of Messages know. Source: `docs/json.md` of imsg. */
const KINDS = [
  ["❤️", "love"],
  ["👍", "like"],
  ["👎", "dislike"],
  ["😂", "laugh"],
  ["‼️", "emphasis"],
  ["❓", "question"],
] as const;

export type TapbackKind = (typeof KINDS)[number][1];

/** Returns the tapback for an emoji, or `undefined` if it is a custom one. */
export function toTapback(emoji: string): TapbackKind | undefined {
  return KINDS.find(([own]) => plain(own) === plain(emoji))?.[1];
}

/** Returns the emoji of a tapback, or the name itself for an unknown one. */
export function toEmoji(kind: string): string {
  const name = kind === "emphasize" || kind === "emphasized" ? "emphasis" : kind;
  return KINDS.find(([, own]) => own === name)?.[0] ?? kind;
}

/** Removes the variation selector, which not all clients send. */
function plain(emoji: string): string {
  return emoji.replace("\ufe0f", "");
}
