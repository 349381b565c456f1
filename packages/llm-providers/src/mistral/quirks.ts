import type { Model } from "@signalbox/agent-core";
import { type QuirksOf, readQuirks } from "../shared/quirks.ts";

/** What is usual, or comes first, unless a model says otherwise; QUIRKS.md says what each means. */
const QUIRKS = {
  thinkingStyle: ["reasoning_effort", "prompt_mode"],
  efforts: { off: "none", max: "xhigh" },
} as const;

export function mistralQuirks({ id, quirks }: Model): QuirksOf<typeof QUIRKS> {
  return readQuirks(QUIRKS, id.startsWith("magistral") ? { thinkingStyle: "prompt_mode" } : {}, quirks);
}
