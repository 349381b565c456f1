import type { AgentLoopConfig, TakeMessages } from "../config.ts";
import { unansweredCalls } from "../conversation/pending.ts";
import { AgentError } from "../errors.ts";
import type { AgentMessage } from "../messages.ts";
import type { RunSignal } from "./run-signal.ts";
import { texts } from "./texts.ts";

/** Known at once where the source is: waiting for nothing costs as much as a delta. */
type Taken = readonly AgentMessage[] | Promise<readonly AgentMessage[]>;

/** What a run starts from. */
export interface Opening {
  readonly messages: readonly AgentMessage[];
  readonly origin: "input" | "steer" | "followUp" | "loop";
}

/** What taking in messages needs of the run. */
export interface IntakeHost {
  readonly config: AgentLoopConfig;
  readonly stop: RunSignal;
  readonly graceMs: number;
  readonly now: () => number;
}

const NONE: readonly AgentMessage[] = [];

/**
 * What a queue of the host holds. Of one that has not said so by the end of the grace of a run that has to stop, nothing.
 * @throws AgentError `invalid_input`
 */
export function take(source: TakeMessages | undefined, { stop, graceMs }: IntakeHost): Taken {
  if (source === undefined) return NONE;
  const taken = source();
  if (taken instanceof Promise) {
    return stop.orStopped(taken, graceMs).then((messages) => checkInput(messages ?? NONE));
  }
  return taken.length === 0 ? taken : checkInput(taken);
}

/**
 * What a run without input starts from: open calls and unanswered messages first, then what is queued, then a turn
 * that was cut or broken off.
 * @throws AgentError `nothing_to_continue`
 */
export async function openingWithoutInput(
  messages: readonly AgentMessage[],
  host: IntakeHost,
): Promise<Opening> {
  const { config, stop, now } = host;
  const last = messages.at(-1);
  if (last !== undefined && (last.role !== "assistant" || unansweredCalls(messages) !== undefined)) {
    return { messages: NONE, origin: "input" };
  }
  const steering = await take(config.steering, host);
  if (steering.length > 0) return { messages: steering, origin: "steer" };
  const followUps = stop.cause === undefined ? await take(config.followUps, host) : NONE;
  if (followUps.length > 0) return { messages: followUps, origin: "followUp" };
  if (stop.cause !== undefined) return { messages: NONE, origin: "input" };
  switch (last?.stopReason) {
    case "pause":
      return { messages: NONE, origin: "input" };
    case "max_tokens":
      return { messages: [note(texts.continueCut, now())], origin: "loop" };
    case "aborted":
    case "error":
      return { messages: [note(texts.continueBroken, now())], origin: "loop" };
    default:
      throw new AgentError("nothing_to_continue", "The conversation waits for the user, not for the model.");
  }
}

/** Something the loop itself tells the model. */
export function note(content: string, timestamp: number): AgentMessage {
  return { role: "custom", kind: "continue", content, timestamp };
}

/** @throws AgentError `invalid_input` */
export function checkInput(messages: readonly AgentMessage[]): readonly AgentMessage[] {
  for (let i = 0; i < messages.length; i++) {
    const role = messages[i]?.role;
    if (role !== "assistant" && role !== "toolResult") continue;
    const what = `A message of role "${role}" belongs into the history, not into the input.`;
    throw new AgentError("invalid_input", what);
  }
  return messages;
}
