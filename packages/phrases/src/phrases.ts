import type { chat } from "./chat/en.ts";
import type { policy } from "./policy/en.ts";
import type { ends, gate } from "./rules/en.ts";
import type { why } from "./why/en.ts";

/** Everything that a gateway itself says in chats; a language that lacks something does not compile. */
export type Phrases = typeof chat & {
  /** Why a call of a tool is allowed, denied or asked about. */
  readonly policy: typeof policy;
  /** What became of a message. */
  readonly why: typeof why;
  /** What the gate's rules mean, and the ends of a message that it let in. */
  readonly rules: { readonly gate: typeof gate; readonly ends: typeof ends };
};
