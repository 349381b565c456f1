import type { ToolCallBlock } from "../content.ts";
import type { LimitName } from "../events.ts";
import type { AgentMessage, AssistantMessage, ToolResultMessage } from "../messages.ts";
import type { RunSetup } from "./run-setup.ts";
import { texts } from "./texts.ts";
import { afterwards, askPerson, type CallSetting, execute, gate, validate } from "./tool-call.ts";
import { abortedCall, failedCall, interruptedCall, resultMessage, type SettledCall } from "./tool-result.ts";

const PARALLEL_CALLS = 16;

/** What the calls of one turn came to. */
export interface BatchOutcome {
  /** In the order of the calls; fewer than those when some wait for a decision. */
  readonly results: readonly ToolResultMessage[];
  /** Calls without a result. */
  readonly waiting: readonly ToolCallBlock[];
  /** Steering that came in; the calls after it were skipped. */
  readonly steering: readonly AgentMessage[];
  /** Why the run has to end with these calls. */
  readonly end?:
    | { readonly reason: "waiting" | "repeated" }
    | { readonly reason: "limit"; readonly limit: LimitName };
}

/** What an earlier run's call comes to before it is looked at: `run` it, leave it waiting, or give it this result. */
export type ResumedCall = "run" | "waiting" | SettledCall;

/** The calls of one model turn: run in order, or at once where the tools allow it; each ends in one result. */
export class ToolBatch {
  readonly #setup: RunSetup;
  readonly #setting: CallSetting;
  readonly #calls: readonly ToolCallBlock[];
  /** For calls of an earlier run, what was decided about each. */
  readonly #resumed: readonly ResumedCall[] | undefined;
  readonly #results: (ToolResultMessage | undefined)[];
  /** Calls without a result. */
  #pending: readonly ToolCallBlock[];
  #steering: readonly AgentMessage[] = [];
  #end: BatchOutcome["end"];

  constructor(
    setup: RunSetup,
    message: AssistantMessage,
    calls: readonly ToolCallBlock[],
    resumed?: readonly ResumedCall[],
  ) {
    this.#setup = setup;
    // What an earlier run began may have taken effect.
    const stopped =
      resumed === undefined
        ? abortedCall
        : ({ name }: ToolCallBlock) => interruptedCall(setup.tools.get(name)?.tool);
    this.#setting = { ...setup, message, stopped };
    this.#calls = calls;
    this.#resumed = resumed;
    this.#results = calls.map(() => undefined);
    this.#pending = calls;
  }

  async run(): Promise<BatchOutcome> {
    let at = 0;
    while (at < this.#calls.length) {
      const whyNot = await this.#whyNot();
      if (whyNot !== undefined) return this.skip(whyNot, at);
      const end = this.#endOfGroup(at);
      await this.#runGroup(at, end);
      // What comes after a call that waits may build on it.
      if (this.#end?.reason === "waiting") break;
      at = end;
    }
    return this.#outcome();
  }

  /** Gives every call a result without looking at any, from one of them on. */
  async skip(resultOf: (call: ToolCallBlock) => SettledCall, from = 0): Promise<BatchOutcome> {
    for (const [index, call] of this.#calls.entries()) {
      const resumed = this.#resumed?.[index];
      if (index < from || resumed === "waiting") continue;
      await this.#settle(index, call, typeof resumed === "object" ? resumed : resultOf(call));
    }
    return this.#outcome();
  }

  #outcome(): BatchOutcome {
    return {
      results: this.#results.filter((result) => result !== undefined),
      waiting: this.#pending,
      steering: this.#steering,
      ...(this.#end === undefined ? {} : { end: this.#end }),
    };
  }

  /** Looked at before each group: whether anything that happened since keeps the rest from running. */
  async #whyNot(): Promise<((call: ToolCallBlock) => SettledCall) | undefined> {
    const skipped = (text: string) => () => failedCall("skipped", text);
    if (this.#setup.signal.aborted) return this.#setting.stopped;
    if (this.#end?.reason === "repeated") return skipped(texts.limit("the same call over and over"));
    if (this.#end?.reason === "limit") return skipped(texts.limit(this.#end.limit));
    // What was said since a call of an earlier run comes after it.
    if (this.#resumed !== undefined) return undefined;
    this.#steering = await this.#setup.takeSteering();
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
    return call !== undefined && this.#setup.tools.get(call.name)?.tool.execution === "parallel";
  }

  async #runGroup(from: number, to: number): Promise<void> {
    const atOnce = Math.max(1, this.#setup.config.parallelCalls ?? PARALLEL_CALLS);
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
    const resumed = this.#resumed?.[index] ?? "run";
    const settled = resumed === "run" ? await this.#call(call) : resumed;
    if (settled === "waiting") this.#end = { reason: "waiting" };
    else await this.#settle(index, call, settled);
  }

  async #call(call: ToolCallBlock): Promise<SettledCall | "waiting"> {
    const { budget, repeats, signal } = this.#setup;
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
    const { log, now } = this.#setup;
    const checked = await validate(call, this.#setting);
    if ("outcome" in checked) return checked;
    const gated = await gate(checked, this.#setting);
    if ("question" in gated) await log.emit({ type: "tool.ask", call, question: gated.question });
    const allowed = "question" in gated ? await askPerson(gated, this.#setting) : gated;
    if (allowed === "waiting" || "outcome" in allowed) return allowed;
    const { args } = allowed.info;
    const pendingToolCalls = this.#pending;
    await log.keep({ kind: "toolStart", turn: log.turn, messages: [], pendingToolCalls, call, args });
    await log.emit({ type: "tool.start", call, args });
    const started = now();
    const settled = await afterwards(allowed, await execute(allowed, this.#setting), this.#setting);
    return { ...settled, durationMs: now() - started };
  }

  async #settle(index: number, call: ToolCallBlock, settled: SettledCall): Promise<void> {
    const { log } = this.#setup;
    const { outcome, durationMs = 0 } = settled;
    const message = resultMessage(call, settled, this.#setup);
    this.#results[index] = message;
    const pendingToolCalls = this.#pending.filter((pending) => pending !== call);
    this.#pending = pendingToolCalls;
    await log.keep({ kind: "toolResult", turn: log.turn, messages: [message], pendingToolCalls, message });
    await log.emit({ type: "tool.end", call, result: message, outcome, durationMs });
  }
}
