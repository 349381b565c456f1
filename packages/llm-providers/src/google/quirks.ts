import type { Model } from "@signalbox/agent-core";
import { type QuirksOf, readQuirks } from "../shared/quirks.ts";

/** Defaults for models before Gemini 3. From Gemini 3 on, all of them are inverted. QUIRKS.md describes them. */
const QUIRKS = {
  thinkingStyle: ["budget", "level"],
  signedCalls: false,
  responseMedia: false,
  jsonWithTools: false,
} as const;

const RECENT = { thinkingStyle: "level", signedCalls: true, responseMedia: true, jsonWithTools: true };

export type GoogleQuirks = QuirksOf<typeof QUIRKS>;

export function googleQuirks({ id, quirks }: Model): GoogleQuirks {
  return readQuirks(QUIRKS, /gemini-(?:[3-9]|\d\d)/.test(id) ? RECENT : {}, quirks);
}
