import type { Model } from "@signalbox/agent-core";
import { type QuirksOf, readQuirks } from "../shared/quirks.ts";

/** The first value is the default. QUIRKS.md describes the quirks. */
const QUIRKS = {
  thinkingStyle: ["reasoning_effort", "prompt_mode"],
  efforts: { off: "none", max: "xhigh" },
} as const;

export function mistralQuirks({ id, quirks }: Model): QuirksOf<typeof QUIRKS> {
  return readQuirks(QUIRKS, id.startsWith("magistral") ? { thinkingStyle: "prompt_mode" } : {}, quirks);
}
