import type { en } from "./en.ts";

/** Everything that a gateway itself says in chats; a language that lacks something does not compile. */
export type Phrases = typeof en;
