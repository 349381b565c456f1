import type { ToolCallBlock } from "../content.ts";
import type { LimitName } from "../events.ts";
import type { AgentMessage, AssistantMessage, ToolResultMessage } from "../messages.ts";
import { STOP_REASONS } from "../stop-reasons.ts";
import type { End } from "./run-end.ts";
import type { RunState } from "./run-state.ts";
import { texts } from "./texts.ts";
import type { CallSetting } from "./tool-call.ts";
import { abortedCall, failedCall, interruptedCall, resultMessage, type SettledCall } from "./tool-result.ts";

/** What the calls of one turn came to. */
export interface BatchOutcome {
  /** In the order of the calls; fewer than those when some wait for a decision. */
  readonly results: readonly ToolResultMessage[];
  /** Steering that came in; the calls after it were skipped. */
  readonly steering: readonly AgentMessage[];
  /** Why the run has to end with these calls. */
  readonly end: End | undefined;
}

/** What a call comes to before it is looked at: `run` it, leave it waiting, or give it this result. */
export type DecidedCall = "run" | "waiting" | SettledCall;

/** Calls run where the turn ended to have them run, and as long as they may; otherwise each gets an answer. */
export function insteadOfRunning(
  { stopReason }: AssistantMessage,
  calls: readonly ToolCallBlock[],
  spent: LimitName | undefined,
): readonly SettledCall[] | undefined {
  if (stopReason === "aborted") return calls.map(abortedCall);
  if (STOP_REASONS[stopReason]?.next !== "tools")
    return calls.map(() => failedCall("skipped", texts.notAsked(stopReason)));
  return spent === undefined ? undefined : calls.map(() => failedCall("skipped", texts.limit(spent)));
}

export interface BatchSetting extends Pick<CallSetting, "message" | "onUpdate"> {
  readonly run: CallSetting["run"] & Pick<RunState, "budget" | "repeats" | "take">;
}

/** The calls of one model turn: in order, or at once where the tools allow it; each ends in one result. */
export class ToolBatch {
  /** What each call that runs is carried out with. */
  readonly setting: BatchSetting & CallSetting;
  readonly #calls: readonly ToolCallBlock[];
  readonly #decided: readonly DecidedCall[] | undefined;
  readonly #results = new Map<ToolCallBlock, ToolResultMessage>();
  /** Calls without a result. */
  readonly #open: Set<ToolCallBlock>;
  /** Where the next group begins. */
  #at = 0;
  #steering: readonly AgentMessage[] = [];
  /** What the rest of the calls come to once something keeps them from running. */
  #skip: ((call: ToolCallBlock) => SettledCall) | undefined;
  /** Why nothing more is called, or run. */
  #end: End | undefined;
  /** Whether a call waits for a decision. */
  #waits = false;
  /** What the model is told with the result of a call that it repeats. */
  readonly #warnings = new Map<ToolCallBlock, string>();

  /** `decided`: what is known of each call already, as of those of an earlier run and those that must not run. */
  constructor(setting: BatchSetting, calls: readonly ToolCallBlock[], decided?: readonly DecidedCall[]) {
    // What an earlier run began may have taken effect.
    const interrupted = ({ name }: ToolCallBlock): SettledCall =>
      interruptedCall(setting.run.tools.get(name));
    const stopped = decided === undefined ? abortedCall : interrupted;
    this.setting = { ...setting, stopped, pending: () => [...this.#open] };
    this.#calls = calls;
    this.#open = new Set(calls);
    this.#decided = decided;
  }

  /** The calls to run next: a sequential one, or parallel ones next to each other, which run at once. */
  async nextGroup(): Promise<readonly ToolCallBlock[] | undefined> {
    // What comes after a call that waits may build on it.
    if (this.#at >= this.#calls.length || this.#waits) return undefined;
    this.#skip ??= await this.#whyNot();
    const from = this.#at++;
    if (this.#isParallel(from)) while (this.#isParallel(this.#at)) this.#at++;
    return this.#calls.slice(from, this.#at);
  }

  get outcome(): BatchOutcome {
    const results = this.#calls.flatMap((call) => this.#results.get(call) ?? []);
    const waiting: End | undefined = this.#waits
      ? { reason: "waiting", pending: [...this.#open] }
      : undefined;
    return { results, steering: this.#steering, end: waiting ?? this.#end };
  }

  /** Looked at before each group: whether anything that happened since keeps the rest from running. */
  async #whyNot(): Promise<((call: ToolCallBlock) => SettledCall) | undefined> {
    const skipped = (text: string) => () => failedCall("skipped", text);
    if (this.setting.run.signal.aborted) return this.setting.stopped;
    if (this.#end?.reason === "repeated") return skipped(texts.limit("the same call over and over"));
    if (this.#end?.limit !== undefined) return skipped(texts.limit(this.#end.limit));
    // What was said since a call of an earlier run comes after it.
    if (this.#decided !== undefined) return undefined;
    this.#steering = await this.setting.run.take("steering");
    return this.#steering.length > 0 ? skipped(texts.steered) : undefined;
  }

  #isParallel(at: number): boolean {
    const call = this.#calls[at];
    return call !== undefined && this.setting.run.tools.get(call.name)?.execution === "parallel";
  }

  /** What a call comes to where it must not run; `undefined` where it is to. */
  decide(call: ToolCallBlock): SettledCall | "waiting" | undefined {
    const decided = this.#decided?.[this.#calls.indexOf(call)] ?? "run";
    if (decided !== "run") return decided;
    const { budget, repeats, signal } = this.setting.run;
    if (this.#skip !== undefined) return this.#skip(call);
    if (signal.aborted) return this.setting.stopped(call);
    if (!budget.takeCall()) {
      this.#end = { reason: "limit", limit: "toolCalls" };
      return failedCall("skipped", texts.limit("toolCalls"));
    }
    const { action, count } = repeats.add(call);
    if (action === "stop") {
      this.#end = { reason: "repeated" };
      return failedCall("skipped", texts.repeated(call.name, count));
    }
    if (action === "warn") this.#warnings.set(call, texts.repeatWarning(call.name, count));
    return undefined;
  }

  /** Takes what a call came to, and gives its result; none where it waits for a decision. */
  settle(call: ToolCallBlock, settled: SettledCall | "waiting"): ToolResultMessage | undefined {
    if (settled === "waiting") {
      if (this.#skip === undefined) this.#waits = true;
      return undefined;
    }
    const text = this.#warnings.get(call);
    const { content } = settled.result;
    const result =
      text === undefined
        ? settled.result
        : { ...settled.result, content: [...content, { type: "text", text } as const] };
    const message = resultMessage(call, { ...settled, result }, this.setting.run);
    this.#results.set(call, message);
    this.#open.delete(call);
    return message;
  }
}
