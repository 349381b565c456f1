import type { ToolCallBlock } from "../content.ts";
import type { AgentMessage, AssistantMessage, ToolResultMessage } from "../messages.ts";
import type { End } from "./run-end.ts";
import type { RunState } from "./run-state.ts";
import { texts } from "./texts.ts";
import { afterwards, type CallSetting, execute, gate, validate } from "./tool-call.ts";
import { abortedCall, failedCall, interruptedCall, resultMessage, type SettledCall } from "./tool-result.ts";

const PARALLEL_CALLS = 16;

/** What the calls of one turn came to. */
interface BatchOutcome {
  /** In the order of the calls; fewer than those when some wait for a decision. */
  readonly results: readonly ToolResultMessage[];
  /** Steering that came in; the calls after it were skipped. */
  readonly steering: readonly AgentMessage[];
  /** Why the run has to end with these calls. */
  readonly end: End | undefined;
}

/** What a call comes to before it is looked at: `run` it, leave it waiting, or give it this result. */
export type DecidedCall = "run" | "waiting" | SettledCall;

/** The calls of one model turn: run in order, or at once where the tools allow it; each ends in one result. */
export class ToolBatch {
  readonly #run: RunState;
  readonly #setting: CallSetting;
  readonly #calls: readonly ToolCallBlock[];
  readonly #decided: readonly DecidedCall[] | undefined;
  readonly #results: (ToolResultMessage | undefined)[];
  #steering: readonly AgentMessage[] = [];
  /** What the rest of the calls come to once something keeps them from running. */
  #skip: ((call: ToolCallBlock) => SettledCall) | undefined;
  #end: End | undefined;

  /** `decided`: what is known of each call already, as of those of an earlier run and those that must not run. */
  constructor(
    run: RunState,
    message: AssistantMessage,
    calls: readonly ToolCallBlock[],
    decided?: readonly DecidedCall[],
  ) {
    this.#run = run;
    // What an earlier run began may have taken effect.
    const interrupted = ({ name }: ToolCallBlock): SettledCall => interruptedCall(run.tools.get(name));
    this.#setting = { run, message, stopped: decided === undefined ? abortedCall : interrupted };
    this.#calls = calls;
    this.#decided = decided;
    this.#results = calls.map(() => undefined);
  }

  /** Calls without a result. */
  get #pending(): readonly ToolCallBlock[] {
    return this.#calls.filter((_, index) => this.#results[index] === undefined);
  }

  async run(): Promise<BatchOutcome> {
    // What comes after a call that waits may build on it.
    for (let at = 0; at < this.#calls.length && this.#end?.reason !== "waiting"; ) {
      this.#skip ??= await this.#whyNot();
      const end = this.#endOfGroup(at);
      await this.#runGroup(at, end);
      at = end;
    }
    const results = this.#results.filter((result) => result !== undefined);
    const end = this.#end?.reason === "waiting" ? { ...this.#end, pending: this.#pending } : this.#end;
    return { results, steering: this.#steering, end };
  }

  /** Looked at before each group: whether anything that happened since keeps the rest from running. */
  async #whyNot(): Promise<((call: ToolCallBlock) => SettledCall) | undefined> {
    const skipped = (text: string) => () => failedCall("skipped", text);
    if (this.#run.signal.aborted) return this.#setting.stopped;
    if (this.#end?.reason === "repeated") return skipped(texts.limit("the same call over and over"));
    if (this.#end?.limit !== undefined) return skipped(texts.limit(this.#end.limit));
    // What was said since a call of an earlier run comes after it.
    if (this.#decided !== undefined) return undefined;
    this.#steering = await this.#run.take("steering");
    return this.#steering.length > 0 ? skipped(texts.steered) : undefined;
  }

  /** A sequential call is a group of its own, parallel ones next to each other are one. */
  #endOfGroup(at: number): number {
    let end = at + 1;
    if (this.#isParallel(at)) while (this.#isParallel(end)) end++;
    return end;
  }

  #isParallel(at: number): boolean {
    const call = this.#calls[at];
    return call !== undefined && this.#run.tools.get(call.name)?.execution === "parallel";
  }

  async #runGroup(from: number, to: number): Promise<void> {
    const atOnce = Math.max(1, this.#run.config.parallelCalls ?? PARALLEL_CALLS);
    let next = from;
    const worker = async (): Promise<void> => {
      try {
        while (next < to) await this.#runOne(next++);
      } finally {
        // No further effect once a step could not be made durable; calls at work still end.
        next = to;
      }
    };
    const workers = Array.from({ length: Math.min(atOnce, to - from) }, worker);
    for (const settled of await Promise.allSettled(workers)) {
      if (settled.status === "rejected") throw settled.reason;
    }
  }

  async #runOne(index: number): Promise<void> {
    const call = this.#calls[index];
    if (call === undefined) return;
    const decided = this.#decided?.[index] ?? "run";
    const settled = decided === "run" ? (this.#skip?.(call) ?? (await this.#call(call))) : decided;
    if (settled === "waiting") {
      if (this.#skip === undefined) this.#end = { reason: "waiting" };
      return;
    }
    const run = this.#run;
    const { outcome, durationMs = 0 } = settled;
    const message = resultMessage(call, settled, run);
    this.#results[index] = message;
    const pendingToolCalls = this.#pending;
    await run.keep({ kind: "toolResult", turn: run.turn, messages: [message], pendingToolCalls, message });
    await run.emit({ type: "tool.end", call, result: message, outcome, durationMs });
  }

  async #call(call: ToolCallBlock): Promise<SettledCall | "waiting"> {
    const { budget, repeats, signal } = this.#run;
    if (signal.aborted) return this.#setting.stopped(call);
    if (!budget.takeCall()) {
      this.#end = { reason: "limit", limit: "toolCalls" };
      return failedCall("skipped", texts.limit("toolCalls"));
    }
    const repeat = repeats.add(call);
    if (repeat.action === "stop") {
      this.#end = { reason: "repeated" };
      return failedCall("skipped", texts.repeated(call.name, repeat.count));
    }
    const settled = await this.#carryOut(call);
    if (settled === "waiting" || repeat.action !== "warn") return settled;
    const warning = { type: "text", text: texts.repeatWarning(call.name, repeat.count) } as const;
    const { result } = settled;
    return { ...settled, result: { ...result, content: [...result.content, warning] } };
  }

  /**
   * One call on its way from what the model wrote to a result: validate, gate, execute. It is on record before it takes
   * effect. `waiting`: a person has not decided yet.
   */
  async #carryOut(call: ToolCallBlock): Promise<SettledCall | "waiting"> {
    const run = this.#run;
    const checked = await validate(call, this.#setting);
    if ("outcome" in checked) return checked;
    const allowed = await gate(checked, this.#setting);
    if (allowed === "waiting" || "outcome" in allowed) return allowed;
    const { args } = allowed;
    const pendingToolCalls = this.#pending;
    await run.keep({ kind: "toolStart", turn: run.turn, messages: [], pendingToolCalls, call, args });
    await run.emit({ type: "tool.start", call, args });
    const started = run.now();
    const settled = await afterwards(allowed, await execute(allowed, run), run);
    return { ...settled, durationMs: run.now() - started };
  }
}
