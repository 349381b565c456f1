import type { Model } from "@signalbox/agent-core";
import { type QuirksOf, readQuirks } from "../shared/quirks.ts";

/** The first value is the default. QUIRKS.md describes the quirks. */
const QUIRKS = {
  temperature: true,
  longCache: true,
  efforts: { off: "none", max: "xhigh" },
  reasoningSummary: true,
  startsThinking: false,
} as const;

export type ResponsesQuirks = QuirksOf<typeof QUIRKS>;

export function responsesQuirks({ quirks, thinking }: Model): ResponsesQuirks {
  return readQuirks(QUIRKS, { temperature: thinking.length === 0 }, quirks);
}
