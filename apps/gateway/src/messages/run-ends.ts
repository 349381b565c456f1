import type { RunEnd, RunOutcome } from "@signalbox/protocol";
import { problemOf } from "@signalbox/telemetry";
import type { ServiceStore } from "./service-store.ts";

export type RunSummary = Awaited<ReturnType<ServiceStore["runs"]["summaries"]>>[number];

/** Returns the end of a run for viewers, unless the run continues. */
export function toRunEnd({ run, inbox }: RunSummary): RunEnd | undefined {
  const outcome = getOutcome(run.state, inbox);
  if (outcome === undefined) return undefined;
  const { inputTokens = 0, outputTokens = 0, costMicros } = run.usage ?? {};
  const rule = inbox.find(({ detail }) => detail?.rule !== undefined)?.detail?.rule ?? "model";
  return {
    runId: run.id,
    outcome,
    usage: run.usage && { inputTokens, outputTokens, costMicros },
    error:
      outcome === "failed" && run.error !== undefined
        ? problemOf({ code: rule, message: run.error })
        : undefined,
  };
}

function getOutcome(state: RunSummary["run"]["state"], inbox: RunSummary["inbox"]): RunOutcome | undefined {
  switch (state) {
    case "running":
      return undefined;
    case "completed":
      return inbox.length > 0 && inbox.every((row) => row.state === "silent") ? "silent" : "replied";
    case "aborted":
      return "aborted";
    case "failed":
    case "poisoned":
      return "failed";
  }
}
