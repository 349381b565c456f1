import { LRUCache } from "lru-cache";

/** The headings of the context blocks before a message. */
export const HEADINGS = {
  inbound: "## Inbound Context (trusted metadata)",
  conversation: "Conversation info (untrusted metadata):",
  sender: "Sender (untrusted metadata):",
  reply: "The message this one replies to (untrusted):",
  thread: "The first message of this thread (untrusted):",
  forward: "A message that the sender forwarded or shared (untrusted):",
  history: "Earlier in this conversation, not addressed to you (untrusted):",
  edited: "Messages of this conversation that were edited since, in their current version (untrusted):",
  sent: "Sent here by agents from other conversations (untrusted):",
  undelivered: "Messages from you that the platform accepted and did not deliver (untrusted):",
  files: "Files that came with the message (untrusted):",
  pages: "Pages the message links to (untrusted):",
  memory: "From memory, perhaps outdated (untrusted):",
} as const;

/** Matches spaces and characters that are invisible to readers. */
const UNSEEN = /[\s\p{Cf}\p{Cc}\p{Mn}\u115f\u1160\u2800\u3164\uffa0]/u;
/** Matches hyphens, underscores and commas, which are ignored. */
const IGNORED = /[\p{Pd}_,，、]/u;
/** Matches opening brackets. A colon may replace a bracket. */
const OPENING = /[([{<:：\p{Ps}\p{Pi}]/u;
const LETTER = /\p{L}/u;
/** Matches HTML tags, which may precede a heading. */
const TAGS =
  /(?:[^\S\n]*<\/?(?:h[1-6]|p|b|i|u|em|strong|div|span|code|pre|blockquote|ul|ol|li|br|hr)\b[^<>\n]{0,80}>)+/iy;
/** Letters in other alphabets that look like Latin ones. Each pair contains such a letter and the Latin one. */
const LOOKALIKES: ReadonlyMap<string, string> = new Map(
  "аa еe оo сc рp уy хx іi јj ѕs ԁd һh тt мm кk вb нh αa εe οo ρp τt υu νv ιi κk ωw ԝw ɑa ɡg ıi оo"
    .split(" ")
    .map(([lookalike = "", letter = ""]) => [lookalike, letter]),
);

/** Reduced characters by code, computed on demand. */
const reducedCharacters: (string | undefined)[] = [];
/** Reduced characters outside the Basic Multilingual Plane. */
const reducedPairs = new LRUCache<string, string>({ max: 2_000 });

/** Reduces a character to its visual equivalent: a lower-case letter, a uniform opening bracket, or nothing. */
function reduceCharacter(character: string): string {
  const code = character.length === 1 ? character.charCodeAt(0) : undefined;
  const known = code === undefined ? reducedPairs.get(character) : reducedCharacters[code];
  if (known !== undefined) return known;
  const reduced = [...character.normalize("NFKC").toLowerCase()]
    .map((part) => (UNSEEN.test(part) || IGNORED.test(part) ? "" : (LOOKALIKES.get(part) ?? part)))
    .map((part) => (OPENING.test(part) ? "(" : part))
    .join("");
  if (code === undefined) reducedPairs.set(character, reduced);
  else reducedCharacters[code] = reduced;
  return reduced;
}

/** A node in the tree of all prefixes to escape. */
interface PrefixNode {
  readonly next: Map<string, PrefixNode>;
  isEnd: boolean;
}

const PREFIXES: PrefixNode = createPrefixes(["[message_id", ...Object.values(HEADINGS)]);

/** Creates the prefixes. A heading's prefix extends to its trust level: `conversationinfo(untrusted`. */
function createPrefixes(headings: readonly string[]): PrefixNode {
  const root: PrefixNode = { next: new Map(), isEnd: false };
  for (const heading of headings) {
    const [words = "", trust = ""] = heading.split(/[():]/);
    const prefix = trust === "" ? words : `${words}(${trust.split(" ")[0]}`;
    let node = root;
    for (const part of prefix.replace(/^#+/, "")) {
      for (const character of reduceCharacter(part)) {
        const next = node.next.get(character) ?? { next: new Map(), isEnd: false };
        node.next.set(character, next);
        node = next;
      }
    }
    node.isEnd = true;
  }
  return root;
}

/**
 * Escapes lines that imitate a heading or mark of the host, with a backslash before their first visible character. For
 * text from other people and programs, such as messages, pages and tool results. Takes linear time.
 */
export function escapeImitations(text: string): string {
  let escaped = "";
  let from = 0;
  for (let start = 0; start >= 0 && start <= text.length; ) {
    if (imitates(text, start)) {
      while (/[^\S\n]/.test(text.charAt(start))) start += 1;
      escaped += `${text.slice(from, start)}\\`;
      from = start;
    }
    const end = text.indexOf("\n", start);
    if (end < 0) break;
    start = end + 1;
  }
  return escaped + text.slice(from);
}

function getTagsLength(text: string, start: number): number {
  if (!/[<\s]/.test(text.charAt(start))) return 0;
  TAGS.lastIndex = start;
  return TAGS.exec(text)?.[0].length ?? 0;
}

/** Returns true if the line that starts here appears to begin with a prefix. */
function imitates(text: string, start: number): boolean {
  let node = PREFIXES;
  let last = "";
  for (let at = start + getTagsLength(text, start); at < text.length; ) {
    const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
    if (character === "\n") return false;
    at += character.length;
    for (const part of reduceCharacter(character)) {
      const isRepeatedBracket = part === "(" && last === "(";
      // Markdown marks, numbers and symbols may precede a heading.
      const isBefore = last === "" && part !== "(" && !LETTER.test(part);
      if (isRepeatedBracket || isBefore) continue;
      last = part;
      const next = node.next.get(part);
      if (next === undefined) return false;
      if (next.isEnd) return true;
      node = next;
    }
  }
  return false;
}
