import type { Model } from "@signalbox/agent-core";
import { type QuirksOf, readQuirks } from "../shared/quirks.ts";

const QUIRKS = {
  /** How a level is told; Magistral models know on and off only. */
  thinkingStyle: ["reasoning_effort", "prompt_mode"],
  /** The vendor's word for a level; by name where absent. */
  efforts: { off: "none", max: "xhigh" },
} as const;

export function mistralQuirks({ id, quirks }: Model): QuirksOf<typeof QUIRKS> {
  return readQuirks(QUIRKS, id.startsWith("magistral") ? { thinkingStyle: "prompt_mode" } : {}, quirks);
}
