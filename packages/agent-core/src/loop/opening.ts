import type { ToolCallBlock } from "../content.ts";
import { unansweredCalls } from "../conversation/tool-calls.ts";
import { AgentError } from "../errors.ts";
import type { InputOrigin } from "../events.ts";
import type { AgentMessage } from "../messages.ts";
import { untilStopped } from "./race.ts";
import type { End } from "./run-end.ts";
import { checkInput, loopNote, type RunState } from "./run-state.ts";
import { soundCall } from "./sound-turn.ts";
import { texts } from "./texts.ts";
import { type DecidedCall, ToolBatch } from "./tool-batch.ts";
import { failedCall, interruptedCall, settledCall } from "./tool-result.ts";

export interface Opening {
  readonly messages: readonly AgentMessage[];
  readonly origin: InputOrigin;
}

const NOTHING: Opening = { messages: [], origin: "input" };

/**
 * The host's input, or where there is none: open calls and unanswered messages first, then what is queued, then a turn
 * that was cut or broken off.
 * @throws AgentError `invalid_input`, `nothing_to_continue`
 */
export async function openingOf(run: RunState, input: readonly AgentMessage[]): Promise<Opening> {
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
  switch (last?.stopReason) {
    case "pause":
      return NOTHING;
    case "max_tokens":
      return { messages: [loopNote(texts.continueCut, now())], origin: "loop" };
    case "aborted":
    case "error":
      return { messages: [loopNote(texts.continueBroken, now())], origin: "loop" };
    default:
      throw new AgentError("nothing_to_continue", "The conversation waits for the user, not for the model.");
  }
}

/** Gives each call an earlier run left open its result, or runs it. Resolves with the end when the run ends here. */
export async function settleOpenCalls(run: RunState, newInput: boolean): Promise<End | undefined> {
  const open = unansweredCalls(run.conversation.messages);
  if (open === undefined) return undefined;
  const calls = open.calls.map(soundCall);
  const decided: DecidedCall[] = [];
  for (const call of calls) decided.push(await decide(run, call, newInput));
  const batch = await new ToolBatch(run, open.message, calls, decided).run();
  await run.add(batch.results, "tool");
  const { pending = [] } = batch.end ?? {};
  if (newInput && pending.length > 0) {
    // What was said has its place behind the results, so a call can wait no longer.
    const superseded = pending.map(() => failedCall("skipped", texts.superseded));
    const skipped = await new ToolBatch(run, open.message, pending, superseded).run();
    await run.add(skipped.results, "tool");
  }
  run.conversation.sortLastResults();
  if (batch.end?.reason === "waiting" && !newInput) return batch.end;
  if (run.signal.aborted) return run.stop.end;
  return batch.end?.reason === "limit" ? batch.end : undefined;
}

/**
 * What the host says about a call that an earlier run left open, else it runs again when that does no harm and nothing
 * new was said, else the model is told that it may have taken effect.
 */
async function decide(run: RunState, call: ToolCallBlock, newInput: boolean): Promise<DecidedCall> {
  const { tools, config, signal } = run;
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
