import type { Model } from "@signalbox/agent-core";
import { type QuirksOf, readQuirks } from "../shared/quirks.ts";

const QUIRKS = {
  /** Whether `temperature` and `top_p` are taken; by default only by models that cannot think. */
  temperature: true,
  /** Whether the longest cache lifetime may be asked for. */
  longCache: true,
  /** The vendor's word for a thinking level; by name where absent. */
  efforts: { off: "none", max: "xhigh" },
  /** Whether reasoning summaries are asked for. */
  reasoningSummary: true,
} as const;

export type ResponsesQuirks = QuirksOf<typeof QUIRKS>;

export function responsesQuirks({ quirks, thinking }: Model): ResponsesQuirks {
  return readQuirks(QUIRKS, { temperature: thinking.length === 0 }, quirks);
}
