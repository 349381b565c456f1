import { chat } from "./chat/en.ts";
import type { Phrases } from "./phrases.ts";
import { policy } from "./policy/en.ts";
import { admission, ends } from "./rules/en.ts";
import { why } from "./why/en.ts";

export const en: Phrases = { language: "en", ...chat, policy, why, rules: { admission, ends } };
