import type { ToolCallBlock } from "../content.ts";
import { maxResultChars } from "../context/truncate.ts";
import { truncateResult } from "../context/truncate-content.ts";
import { errorText } from "../errors.ts";
import type { LimitName } from "../events.ts";
import type { AgentMessage, AssistantMessage, ToolResultMessage } from "../messages.ts";
import type { ToolResult } from "../tool.ts";
import type { RunSetup } from "./run-setup.ts";
import { texts } from "./texts.ts";
import { abortedCall, askPerson, type CallSetting, perform, prepare } from "./tool-call.ts";
import { failed, failedCall, type SettledCall } from "./tool-result.ts";

const PARALLEL_CALLS = 16;

/** What the calls of a run share. */
export type ToolRunner = Pick<
  RunSetup,
  "tools" | "config" | "log" | "budget" | "repeats" | "signal" | "graceMs" | "now" | "takeSteering"
>;

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
export type ResumedCall = "run" | "wait" | SettledCall;

/** The calls of one model turn: run in order, or at once where the tools allow it; each ends in one result. */
export class ToolBatch {
  readonly #runner: ToolRunner;
  readonly #message: AssistantMessage;
  readonly #calls: readonly ToolCallBlock[];
  /** For calls of an earlier run, what was decided about each. */
  readonly #resumed: readonly ResumedCall[] | undefined;
  readonly #results: (ToolResultMessage | undefined)[];
  #steering: readonly AgentMessage[] = [];
  #end: BatchOutcome["end"];

  constructor(
    runner: ToolRunner,
    message: AssistantMessage,
    calls: readonly ToolCallBlock[],
    resumed?: readonly ResumedCall[],
  ) {
    this.#runner = runner;
    this.#message = message;
    this.#calls = calls;
    this.#resumed = resumed;
    this.#results = calls.map(() => undefined);
  }

  async run(): Promise<BatchOutcome> {
    let at = 0;
    while (at < this.#calls.length) {
      const skipped = await this.#whySkip();
      if (skipped !== undefined) {
        await this.#skipFrom(at, skipped);
        break;
      }
      const end = this.#endOfGroup(at);
      await this.#runGroup(at, end);
      // What comes after a call that waits may build on it.
      if (this.#end?.reason === "waiting") break;
      at = end;
    }
    return this.#outcome();
  }

  /** Gives every call a result without looking at any. */
  async skip(resultOf: (call: ToolCallBlock) => SettledCall): Promise<BatchOutcome> {
    await this.#skipFrom(0, resultOf);
    return this.#outcome();
  }

  #outcome(): BatchOutcome {
    return {
      results: this.#results.filter((result) => result !== undefined),
      waiting: this.#withoutResult(),
      steering: this.#steering,
      ...(this.#end === undefined ? {} : { end: this.#end }),
    };
  }

  /** Looked at before each group: whether anything that happened since keeps the rest from running. */
  async #whySkip(): Promise<((call: ToolCallBlock) => SettledCall) | undefined> {
    const { signal } = this.#runner;
    if (signal.aborted) return abortedCall;
    if (this.#end?.reason === "repeated") return skippedFor(texts.limit("the same call over and over"));
    if (this.#end?.reason === "limit") return skippedFor(texts.limit(this.#end.limit));
    // What was said since a call of an earlier run comes after it.
    if (this.#resumed !== undefined) return undefined;
    this.#steering = await this.#runner.takeSteering();
    return this.#steering.length > 0 ? skippedFor(texts.steered) : undefined;
  }

  async #skipFrom(at: number, resultOf: (call: ToolCallBlock) => SettledCall): Promise<void> {
    for (const [offset, call] of this.#calls.slice(at).entries()) {
      const resumed = this.#resumed?.[at + offset];
      if (resumed === "wait") continue;
      await this.#settle(at + offset, call, typeof resumed === "object" ? resumed : resultOf(call), 0);
    }
  }

  /** A sequential call is a group of its own, parallel ones next to each other are one. */
  #endOfGroup(at: number): number {
    let end = at + 1;
    if (this.#isParallel(at)) while (end < this.#calls.length && this.#isParallel(end)) end++;
    return end;
  }

  #isParallel(at: number): boolean {
    const name = this.#calls[at]?.name ?? "";
    return this.#runner.tools.get(name)?.tool.execution === "parallel";
  }

  async #runGroup(from: number, to: number): Promise<void> {
    const atOnce = Math.max(1, this.#runner.config.parallelCalls ?? PARALLEL_CALLS);
    let next = from;
    let broken = false;
    const worker = async (): Promise<void> => {
      while (next < to && !broken) {
        try {
          await this.#runOne(next++);
        } catch (error) {
          // No further effect once a step could not be made durable; calls at work still end.
          broken = true;
          throw error;
        }
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
    const { now } = this.#runner;
    const started = now();
    const resumed = this.#resumed?.[index] ?? "run";
    const settled = resumed === "run" ? await this.#call(call) : resumed;
    if (settled === "wait" || settled === "waiting") this.#end = { reason: "waiting" };
    else await this.#settle(index, call, settled, now() - started);
  }

  async #call(call: ToolCallBlock): Promise<SettledCall | "waiting"> {
    const { tools, config, log, budget, repeats, signal, graceMs } = this.#runner;
    if (signal.aborted) return abortedCall(call);
    if (!budget.takeCall()) {
      this.#end = { reason: "limit", limit: "toolCalls" };
      return failedCall("skipped", texts.limit("toolCalls"));
    }
    const repeat = repeats.add(call);
    if (repeat.action === "stop") {
      this.#end = { reason: "repeated" };
      return failedCall("skipped", texts.repeated(call.name, repeat.count));
    }
    const settled = await this.#carryOut(call, {
      tools,
      hooks: config,
      message: this.#message,
      turn: log.turn,
      signal,
      graceMs,
      resultChars: this.#resultChars,
      onProgress: (partial) => log.emit({ type: "tool.update", callId: call.id, partial }),
    });
    if (settled === "waiting" || repeat.action !== "warn") return settled;
    const warning = { type: "text", text: texts.repeatWarning(call.name, repeat.count) } as const;
    const { result } = settled;
    return { ...settled, result: { ...result, content: [...result.content, warning] } };
  }

  /**
   * One call on its way from what the model wrote to a result: validate and gate, then execute. It is on record before
   * it takes effect. `waiting`: a person has not decided yet.
   */
  async #carryOut(call: ToolCallBlock, setting: CallSetting): Promise<SettledCall | "waiting"> {
    const { log } = this.#runner;
    let prepared = await prepare(call, setting);
    if ("question" in prepared) {
      await log.emit({ type: "tool.ask", call, question: prepared.question });
      const answered = await askPerson(prepared, setting);
      if (answered === "waiting") return answered;
      prepared = answered;
    }
    if ("outcome" in prepared) return prepared;
    const { args } = prepared.info;
    const pendingToolCalls = this.#withoutResult();
    await log.keep({ kind: "toolStart", turn: log.turn, messages: [], pendingToolCalls, call, args });
    await log.emit({ type: "tool.start", call, args });
    return perform(prepared, setting);
  }

  async #settle(
    index: number,
    call: ToolCallBlock,
    { result, outcome }: SettledCall,
    durationMs: number,
  ): Promise<void> {
    const { log } = this.#runner;
    const message = this.#messageOf(call, result);
    this.#results[index] = message;
    const pendingToolCalls = this.#withoutResult();
    await log.keep({ kind: "toolResult", turn: log.turn, messages: [message], pendingToolCalls, message });
    await log.emit({ type: "tool.end", call, result: message, outcome, durationMs });
  }

  /** What a tool gave may be an object that cannot be read twice, or at all. */
  #messageOf(call: ToolCallBlock, result: ToolResult): ToolResultMessage {
    try {
      return this.#truncated(call, result);
    } catch (error) {
      return this.#truncated(call, failed(errorText(error)));
    }
  }

  #truncated(call: ToolCallBlock, result: ToolResult): ToolResultMessage {
    const { config, now, tools } = this.#runner;
    const keep = tools.get(call.name)?.tool.truncate ?? "auto";
    return {
      role: "toolResult",
      toolCallId: call.id,
      toolName: call.name,
      content: truncateResult(result.content, this.#resultChars, config.model.contextWindow, keep),
      ...(result.details === undefined ? {} : { details: result.details }),
      isError: result.isError === true,
      timestamp: now(),
    };
  }

  get #resultChars(): number {
    const { context, model } = this.#runner.config;
    return context?.resultChars ?? maxResultChars(model.contextWindow);
  }

  #withoutResult(): readonly ToolCallBlock[] {
    return this.#calls.filter((_call, index) => this.#results[index] === undefined);
  }
}

function skippedFor(text: string): (call: ToolCallBlock) => SettledCall {
  return () => failedCall("skipped", text);
}
