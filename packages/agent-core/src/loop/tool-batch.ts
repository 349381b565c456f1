import type { ToolCallBlock } from "../content.ts";
import type { LimitName } from "../events.ts";
import type { AgentMessage, AssistantMessage, ToolResultMessage } from "../messages.ts";
import { STOP_REASONS } from "../stop-reasons.ts";
import type { End } from "./run-end.ts";
import type { RunState } from "./run-state.ts";
import { texts } from "./texts.ts";
import type { CallSetting } from "./tool-call.ts";
import {
  type CompletedCall,
  createAbortedCall,
  createFailedCall,
  createInterruptedCall,
  createResultMessage,
} from "./tool-result.ts";

/** The outcome of a turn's calls. */
export interface BatchOutcome {
  /** In the order of the calls. Calls that are waiting for a decision are missing. */
  readonly results: readonly ToolResultMessage[];
  /** Steering messages that arrived. The calls after them were skipped. */
  readonly steering: readonly AgentMessage[];
  /** The reason why the run has to end after these calls. */
  readonly end: End | undefined;
}

/** The decision about a call before it runs: `run` it, leave it `waiting`, or complete it with this result. */
export type DecidedCall = "run" | "waiting" | CompletedCall;

/** Calls run only if the turn ended with `tool_use` and no limit is used up. Otherwise each gets a result. */
export function decideWithoutRunning(
  { stopReason }: AssistantMessage,
  calls: readonly ToolCallBlock[],
  spent: LimitName | undefined,
): readonly CompletedCall[] | undefined {
  if (stopReason === "aborted") return calls.map(createAbortedCall);
  if (STOP_REASONS[stopReason]?.next !== "tools")
    return calls.map(() => createFailedCall("skipped", texts.notAsked(stopReason)));
  return spent === undefined ? undefined : calls.map(() => createFailedCall("skipped", texts.limit(spent)));
}

export interface BatchSetting extends Pick<CallSetting, "message" | "onUpdate"> {
  readonly run: CallSetting["run"] & Pick<RunState, "budget" | "repeats" | "take">;
}

/** The calls of a turn, sequential or parallel. Each call gets one result. */
export class ToolBatch {
  /** Passed to each call that runs. */
  readonly setting: BatchSetting & CallSetting;
  readonly #calls: readonly ToolCallBlock[];
  readonly #decided: readonly DecidedCall[] | undefined;
  readonly #results = new Map<ToolCallBlock, ToolResultMessage>();
  /** Calls without a result. */
  readonly #open: Set<ToolCallBlock>;
  /** Index of the next group. */
  #at = 0;
  #steering: readonly AgentMessage[] = [];
  /** Creates the results of the remaining calls once something prevents them from running. */
  #skip: ((call: ToolCallBlock) => CompletedCall) | undefined;
  /** The reason why no further call runs. */
  #end: End | undefined;
  /** True if a call is waiting for a decision. */
  #waits = false;
  /** Warnings that are appended to the results of repeated calls. */
  readonly #warnings = new Map<ToolCallBlock, string>();

  /** @param decided decisions about calls of an earlier run and about calls that must not run */
  constructor(setting: BatchSetting, calls: readonly ToolCallBlock[], decided?: readonly DecidedCall[]) {
    // A call that an earlier run started may have taken effect.
    const interrupted = ({ name }: ToolCallBlock): CompletedCall =>
      createInterruptedCall(setting.run.tools.get(name));
    const stopped = decided === undefined ? createAbortedCall : interrupted;
    this.setting = { ...setting, stopped, pending: () => [...this.#open] };
    this.#calls = calls;
    this.#open = new Set(calls);
    this.#decided = decided;
  }

  /** Returns the next calls to run: a sequential one, or a group of neighboring parallel ones. */
  async nextGroup(): Promise<readonly ToolCallBlock[] | undefined> {
    // Calls that follow a waiting call may depend on it.
    if (this.#at >= this.#calls.length || this.#waits) return undefined;
    this.#skip ??= await this.#findObstacle();
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

  /** Checks before each group whether the remaining calls may still run. */
  async #findObstacle(): Promise<((call: ToolCallBlock) => CompletedCall) | undefined> {
    const skipped = (text: string) => () => createFailedCall("skipped", text);
    if (this.setting.run.signal.aborted) return this.setting.stopped;
    if (this.#end?.reason === "repeated") return skipped(texts.limit("repeated calls"));
    if (this.#end?.limit !== undefined) return skipped(texts.limit(this.#end.limit));
    // Steering messages follow the calls of an earlier run.
    if (this.#decided !== undefined) return undefined;
    this.#steering = await this.setting.run.take("steering");
    return this.#steering.length > 0 ? skipped(texts.steered) : undefined;
  }

  #isParallel(at: number): boolean {
    const call = this.#calls[at];
    return call !== undefined && this.setting.run.tools.get(call.name)?.execution === "parallel";
  }

  /**
   * Returns the result of a call that must not run, "waiting" if its decision is pending, or `undefined` if it may run.
   */
  decide(call: ToolCallBlock): CompletedCall | "waiting" | undefined {
    const decided = this.#decided?.[this.#calls.indexOf(call)] ?? "run";
    if (decided !== "run") return decided;
    const { budget, repeats, signal } = this.setting.run;
    if (this.#skip !== undefined) return this.#skip(call);
    if (signal.aborted) return this.setting.stopped(call);
    if (!budget.takeCall()) {
      this.#end = { reason: "limit", limit: "toolCalls" };
      return createFailedCall("skipped", texts.limit("toolCalls"));
    }
    const { action, count } = repeats.add(call);
    if (action === "stop") {
      this.#end = { reason: "repeated" };
      return createFailedCall("skipped", texts.repeated(call.name, count));
    }
    if (action === "warn") this.#warnings.set(call, texts.repeatWarning(call.name, count));
    return undefined;
  }

  /** Completes a call and returns its result, or `undefined` if the call is waiting for a decision. */
  complete(call: ToolCallBlock, completed: CompletedCall | "waiting"): ToolResultMessage | undefined {
    if (completed === "waiting") {
      if (this.#skip === undefined) this.#waits = true;
      return undefined;
    }
    const text = this.#warnings.get(call);
    const { content } = completed.result;
    const result =
      text === undefined
        ? completed.result
        : { ...completed.result, content: [...content, { type: "text", text } as const] };
    const message = createResultMessage(call, { ...completed, result }, this.setting.run);
    this.#results.set(call, message);
    this.#open.delete(call);
    return message;
  }
}
