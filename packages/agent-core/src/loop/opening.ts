import type { ToolCallBlock } from "../content.ts";
import { unansweredCalls } from "../conversation/tool-calls.ts";
import { AgentError } from "../errors.ts";
import type { InputOrigin } from "../events.ts";
import type { AgentMessage } from "../messages.ts";
import { STOP_REASONS } from "../stop-reasons.ts";
import { untilStopped } from "./race.ts";
import { checkInput, type RunState } from "./run-state.ts";
import { loopNote, texts } from "./texts.ts";
import type { DecidedCall } from "./tool-batch.ts";
import { interruptedCall, settledCall } from "./tool-result.ts";

export interface Opening {
  readonly messages: readonly AgentMessage[];
  readonly origin: InputOrigin;
}

const NOTHING: Opening = { messages: [], origin: "input" };

/**
 * What a run begins with: the host's input, or where there is none: open calls and unanswered messages first, then what
 * is queued, then a turn that was cut or broken off.
 * @throws AgentError `invalid_input`, `nothing_to_continue`
 */
export async function openingOf(
  run: Pick<RunState, "conversation" | "now" | "signal" | "take">,
  input: readonly AgentMessage[],
): Promise<Opening> {
  if (input.length > 0) return { messages: checkInput(input), origin: "input" };
  const { conversation, signal, now } = run;
  const { messages } = conversation;
  const last = messages.at(-1);
  if (last !== undefined && last.role !== "assistant") return NOTHING;
  if (unansweredCalls(messages) !== undefined) return NOTHING;
  const steering = await run.take("steering");
  if (steering.length > 0) return { messages: steering, origin: "steer" };
  const followUps = signal.aborted ? [] : await run.take("followUps");
  if (followUps.length > 0) return { messages: followUps, origin: "followUp" };
  if (signal.aborted) return NOTHING;
  const rule = last === undefined ? undefined : STOP_REASONS[last.stopReason];
  if (rule?.next === "resume") return NOTHING;
  const isBroken = rule?.text === "broken";
  if (!isBroken && rule?.next !== "continue") {
    throw new AgentError("nothing_to_continue", "The conversation waits for the user, not for the model.");
  }
  return { messages: [loopNote(isBroken ? texts.continueBroken : texts.continueCut, now())], origin: "loop" };
}

/**
 * What the host says about a call that an earlier run left open, else it runs again when that does no harm and nothing
 * new was said, else the model is told that it may have taken effect.
 */
export async function decideOpenCall(
  { tools, config, signal }: Pick<RunState, "tools" | "config" | "signal">,
  call: ToolCallBlock,
  newInput: boolean,
): Promise<DecidedCall> {
  const tool = tools.get(call.name);
  const decision = await untilStopped(config.onPendingCall?.({ call, tool, newInput }), signal);
  switch (decision?.action) {
    case "run":
      return "run";
    case "wait":
      return "waiting";
    case "result":
      return settledCall(decision.result, call.name);
    // What a host written without types says in other words decides nothing.
    default:
      return tool === undefined || tool.effects === "external" || newInput ? interruptedCall(tool) : "run";
  }
}
