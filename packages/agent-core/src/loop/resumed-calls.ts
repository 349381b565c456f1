import type { ToolCallBlock } from "../content.ts";
import type { OnPendingCall, PendingCall } from "../hooks.ts";
import type { ToolSet } from "../tools/tool-set.ts";
import { race } from "./race.ts";
import { texts } from "./texts.ts";
import type { ResumedCall } from "./tool-batch.ts";
import { failedCall, soundResult } from "./tool-result.ts";

/** What becomes of each call that an earlier run left open. */
export async function decideResumedCalls(
  calls: readonly ToolCallBlock[],
  newInput: boolean,
  tools: ToolSet,
  onPendingCall: OnPendingCall | undefined,
  signal: AbortSignal,
): Promise<readonly ResumedCall[]> {
  const decided: ResumedCall[] = [];
  for (const call of calls) {
    const tool = tools.get(call.name)?.tool;
    decided.push(await decide({ call, tool, newInput }, onPendingCall, signal));
  }
  return decided;
}

/**
 * What the host says, else it runs again when that does no harm and nothing new was said, else the model is told that
 * it may have taken effect.
 */
async function decide(
  pending: PendingCall,
  onPendingCall: OnPendingCall | undefined,
  signal: AbortSignal,
): Promise<ResumedCall> {
  const { call, tool, newInput } = pending;
  const said = await race(Promise.resolve(onPendingCall?.(pending)), { signal });
  const decision = said.done ? said.value : undefined;
  switch (decision?.action) {
    case "run":
      return "run";
    case "wait":
      return "wait";
    case "result": {
      const result = soundResult(decision.result, call.name);
      return { result, outcome: result.isError === true ? "error" : "ok" };
    }
    // What a host written without types says in other words decides nothing.
    default: {
      const harmless = tool !== undefined && tool.effects !== "external";
      if (harmless && !newInput) return "run";
      return failedCall("skipped", harmless ? texts.interruptedHarmless : texts.interrupted);
    }
  }
}
