import { chat } from "./chat/zh.ts";
import type { Phrases } from "./phrases.ts";
import { policy } from "./policy/zh.ts";
import { admission, ends } from "./rules/zh.ts";
import { why } from "./why/zh.ts";

export const zh: Phrases = { language: "zh", ...chat, policy, why, rules: { admission, ends } };
