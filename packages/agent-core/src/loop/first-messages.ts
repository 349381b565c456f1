import type { ToolCallBlock } from "../content.ts";
import { findPendingCalls } from "../conversation/tool-calls.ts";
import { AgentError } from "../errors.ts";
import type { InputOrigin } from "../events.ts";
import type { AgentMessage } from "../messages.ts";
import { STOP_REASONS } from "../stop-reasons.ts";
import { waitUnlessAborted } from "./race.ts";
import { checkInput, type RunState } from "./run-state.ts";
import { createLoopNote, texts } from "./texts.ts";
import type { DecidedCall } from "./tool-batch.ts";
import { createCompletedCall, createInterruptedCall } from "./tool-result.ts";

export interface FirstMessages {
  readonly messages: readonly AgentMessage[];
  readonly origin: InputOrigin;
}

const NOTHING: FirstMessages = { messages: [], origin: "input" };

/**
 * Returns the first messages of a run: the host's input. If there is no input, pending calls and unanswered messages
 * come first, then the queues, then a truncated or broken turn.
 *
 * @throws AgentError `invalid_input`, `nothing_to_continue`
 */
export async function getFirstMessages(
  run: Pick<RunState, "conversation" | "now" | "signal" | "take">,
  input: readonly AgentMessage[],
): Promise<FirstMessages> {
  if (input.length > 0) return { messages: checkInput(input), origin: "input" };
  const { conversation, signal, now } = run;
  const { messages } = conversation;
  const last = messages.at(-1);
  if (last !== undefined && last.role !== "assistant") return NOTHING;
  if (findPendingCalls(messages) !== undefined) return NOTHING;
  const steering = await run.take("steering");
  if (steering.length > 0) return { messages: steering, origin: "steer" };
  const followUps = signal.aborted ? [] : await run.take("followUps");
  if (followUps.length > 0) return { messages: followUps, origin: "followUp" };
  if (signal.aborted) return NOTHING;
  const rule = last === undefined ? undefined : STOP_REASONS[last.stopReason];
  if (rule?.next === "resume") return NOTHING;
  const isBroken = rule?.text === "broken";
  if (!isBroken && rule?.next !== "continue") {
    throw new AgentError(
      "nothing_to_continue",
      "There is nothing to continue: the conversation is waiting for the user, not for the model.",
    );
  }
  return {
    messages: [createLoopNote(isBroken ? texts.continueBroken : texts.continueCut, now())],
    origin: "loop",
  };
}

/**
 * Decides what happens to a pending call of an earlier run. The host's decision comes first. By default, the call runs
 * again if that is harmless and there is no new input. Otherwise the model learns that it may have taken effect.
 */
export async function decidePendingCall(
  { tools, config, signal }: Pick<RunState, "tools" | "config" | "signal">,
  call: ToolCallBlock,
  newInput: boolean,
): Promise<DecidedCall> {
  const tool = tools.get(call.name);
  const decision = await waitUnlessAborted(config.onPendingCall?.({ call, tool, newInput }), signal);
  switch (decision?.action) {
    case "run":
      return "run";
    case "wait":
      return "waiting";
    case "result":
      return createCompletedCall(decision.result, call.name);
    // Ignore an unknown decision from a host without types.
    default:
      return tool === undefined || tool.effects === "external" || newInput
        ? createInterruptedCall(tool)
        : "run";
  }
}
