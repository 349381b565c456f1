import type { chat } from "./chat/en.ts";
import type { Language } from "./facts.ts";
import type { policy } from "./policy/en.ts";
import type { admission, ends } from "./rules/en.ts";
import type { why } from "./why/en.ts";

/** All texts of a gateway in chats. A language with a missing text does not compile. */
export type Phrases = typeof chat & {
  readonly language: Language;
  /** Reasons why a tool call is allowed, denied or needs approval. */
  readonly policy: typeof policy;
  /** Outcomes of messages. */
  readonly why: typeof why;
  /** Meanings of the admission rules, and of the final states of admitted messages. */
  readonly rules: { readonly admission: typeof admission; readonly ends: typeof ends };
};
