import type { ToolCallBlock } from "../content.ts";
import { errorText, isAgentError } from "../errors.ts";
import type { LimitName, ToolOutcome } from "../events.ts";
import type { AfterToolCall, ToolCallInfo } from "../hooks.ts";
import type { JsonObject } from "../json.ts";
import type { AgentMessage, AssistantMessage, ToolResultMessage } from "../messages.ts";
import { truncateResult } from "../overflow/truncate-content.ts";
import type { CompiledTool } from "../schema/compile.ts";
import type { ToolResult } from "../tool.ts";
import type { CallHost } from "./call-host.ts";
import { type End, stoppedBy } from "./ends.ts";
import { askGate, checkArgs, unchecked } from "./gate.ts";
import { take } from "./intake.ts";
import { aborted, type Invoked, invoke, wrong } from "./invoke.ts";
import { failed, soundResult } from "./result.ts";
import type { StopCause } from "./run-signal.ts";
import { soundCall } from "./sound-turn.ts";
import { texts } from "./texts.ts";
import { Updates } from "./updates.ts";

const PARALLEL_CALLS = 16;

/** What the calls of one turn came to. */
export interface CallsOutcome {
  /** In the order of the calls; shorter than the calls when some wait for a decision. */
  readonly results: readonly ToolResultMessage[];
  /** Calls without a result. */
  readonly waiting: readonly ToolCallBlock[];
  /** Steering that came in; the calls after it were skipped. */
  readonly steering: readonly AgentMessage[];
  readonly end?: "limit" | "repeated" | "waiting";
  readonly limit?: LimitName;
}

/** The end that a turn's calls, or what stops the run, made it come to. */
export function endByCalls(outcome: CallsOutcome | undefined, cause: StopCause | undefined): End | undefined {
  if (outcome?.end === "waiting") return { reason: "waiting", pending: outcome.waiting };
  if (cause !== undefined) return stoppedBy(cause);
  if (outcome?.end === "repeated") return { reason: "repeated" };
  if (outcome?.limit === undefined) return undefined;
  return outcome.end === "limit" ? { reason: "limit", limit: outcome.limit } : undefined;
}

/** What is settled about a call before it is looked at: a result to give it, or that it has to wait. */
export type Preset = { readonly result: ToolResult; readonly outcome: ToolOutcome } | "wait" | undefined;

/** Runs the calls of one model turn: in order, or at once where the tools allow it; each ends in one result. */
export class TurnCalls {
  readonly #host: CallHost;
  readonly #message: AssistantMessage;
  readonly #calls: readonly ToolCallBlock[];
  readonly #presets: readonly Preset[];
  /** Calls of an earlier run have been decided on; what was said since comes after them. */
  readonly #resumed: boolean;
  readonly #results: (ToolResultMessage | undefined)[];
  #steering: readonly AgentMessage[] = [];
  #end: "limit" | "repeated" | "waiting" | undefined;
  #limit: LimitName | undefined;
  #updates: Map<string, Updates> | undefined;
  #first = 0;
  #last = -1;

  constructor(
    host: CallHost,
    message: AssistantMessage,
    calls: readonly ToolCallBlock[],
    presets?: readonly Preset[],
  ) {
    this.#host = host;
    this.#message = message;
    this.#calls = presets === undefined ? calls : calls.map(soundCall);
    this.#presets = presets ?? [];
    this.#resumed = presets !== undefined;
    this.#results = calls.map(() => undefined);
  }

  async run(): Promise<CallsOutcome> {
    const calls = this.#calls;
    let at = 0;
    while (at < calls.length) {
      const skipped = await this.#whySkip();
      if (skipped !== undefined) {
        await this.#skipFrom(at, skipped);
        break;
      }
      let end = at + 1;
      if (this.#isParallel(at)) while (end < calls.length && this.#isParallel(end)) end++;
      if (end - at === 1) await this.#one(at);
      else await this.#batch(at, end);
      // What comes after a call that waits may build on it.
      if (this.#end === "waiting") break;
      at = end;
    }
    return this.#outcome();
  }

  /** Gives every call the same result without looking at any. */
  async skipAll(text: string, outcome: ToolOutcome): Promise<CallsOutcome> {
    await this.#skipFrom(0, { text, outcome });
    return this.#outcome();
  }

  #outcome(): CallsOutcome {
    return {
      results: this.#results.filter((result) => result !== undefined),
      waiting: this.#pending(),
      steering: this.#steering,
      ...(this.#end === undefined ? {} : { end: this.#end }),
      ...(this.#limit === undefined ? {} : { limit: this.#limit }),
    };
  }

  async #whySkip(): Promise<{ text: string; outcome: ToolOutcome } | undefined> {
    const host = this.#host;
    const { stop, config } = host;
    if (stop.cause !== undefined) return { text: "", outcome: "aborted" };
    if (this.#end === "repeated")
      return { text: texts.limit("the same call over and over"), outcome: "skipped" };
    if (this.#end === "limit") return { text: texts.limit(this.#limit ?? ""), outcome: "skipped" };
    if (config.steering === undefined || this.#resumed) return undefined;
    const taken = take(config.steering, host);
    this.#steering = taken instanceof Promise ? await taken : taken;
    return this.#steering.length > 0 ? { text: texts.steered, outcome: "skipped" } : undefined;
  }

  async #skipFrom(at: number, why: { text: string; outcome: ToolOutcome }): Promise<void> {
    for (let i = at; i < this.#calls.length; i++) {
      const call = this.#calls[i];
      const preset = this.#presets[i];
      if (call === undefined || preset === "wait") continue;
      const text = why.text === "" ? texts.abortedBefore(call.name) : why.text;
      await this.#finish(i, call, preset ?? { result: failed(text), outcome: why.outcome }, 0);
    }
  }

  #isParallel(at: number): boolean {
    const call = this.#calls[at];
    return call !== undefined && this.#host.tools.byName.get(call.name)?.tool.execution === "parallel";
  }

  async #batch(from: number, to: number): Promise<void> {
    const limit = Math.max(1, this.#host.config.parallelCalls ?? PARALLEL_CALLS);
    let next = from;
    let broken = false;
    const worker = async (): Promise<void> => {
      while (next < to && !broken) {
        try {
          await this.#one(next++);
        } catch (error) {
          // No further effect once a step could not be made durable; calls at work still end.
          broken = true;
          throw error;
        }
      }
    };
    const workers = Array.from({ length: Math.min(limit, to - from) }, worker);
    for (const settled of await Promise.allSettled(workers)) {
      if (settled.status === "rejected") throw settled.reason;
    }
  }

  async #one(index: number): Promise<void> {
    const call = this.#calls[index];
    if (call === undefined) return;
    const preset = this.#presets[index];
    if (preset === "wait") {
      this.#end = "waiting";
      return;
    }
    const { now, stop } = this.#host;
    const started = now();
    let done: Invoked | "waiting";
    try {
      done = preset ?? (stop.cause === undefined ? await this.#decide(call) : aborted(call));
    } catch (error) {
      // A step that could not be kept ends the run; anything else that a schema, a gate or a tool did is the result.
      if (isAgentError(error)) throw error;
      done = wrong(errorText(error));
    }
    if (done === "waiting") {
      this.#end = "waiting";
      return;
    }
    await this.#finish(index, call, done, now() - started);
  }

  /** Everything between a call as the model wrote it and the result of its tool. */
  async #decide(call: ToolCallBlock): Promise<Invoked | "waiting"> {
    const { tools, tally, repeats } = this.#host;
    if (tally.noMoreCalls()) {
      this.#end = "limit";
      this.#limit = "toolCalls";
      return { result: failed(texts.limit("toolCalls")), outcome: "skipped" };
    }
    tally.toolCalls++;
    const repeat = repeats.note(call);
    if (repeat.action === "stop") {
      this.#end = "repeated";
      return { result: failed(texts.repeated(call.name, repeat.count)), outcome: "skipped" };
    }
    const entry = tools.byName.get(call.name);
    if (entry === undefined) return wrong(texts.unknownTool(call.name, [...tools.byName.keys()]));
    if (call.args === undefined) return wrong(texts.malformed(call));
    const done = await this.#gate(call, entry, call.args);
    if (done === "waiting" || repeat.action !== "warn") return done;
    const note = { type: "text", text: texts.repeatWarning(call.name, repeat.count) } as const;
    return { ...done, result: { ...done.result, content: [...done.result.content, note] } };
  }

  async #gate(call: ToolCallBlock, entry: CompiledTool, given: JsonObject): Promise<Invoked | "waiting"> {
    const { config, stop } = this.#host;
    const checked = checkArgs(this.#host, entry, given);
    let args = checked instanceof Promise ? await checked : checked;
    if (args === undefined) return unchecked(this.#host, call, entry);
    if (!args.ok) return wrong(texts.invalid(call.name, args.problems));
    if (config.beforeToolCall !== undefined) {
      const decision = await askGate(this.#host, this.#info(call, entry, args.args));
      if (typeof decision !== "object") {
        if (decision === "waiting") return "waiting";
      } else if ("outcome" in decision) {
        return decision;
      } else {
        args = await checkArgs(this.#host, entry, decision.args);
        if (args === undefined) return unchecked(this.#host, call, entry);
        if (!args.ok)
          return { result: failed(texts.gateFailed(call.name, args.problems)), outcome: "blocked" };
      }
    }
    if (stop.cause !== undefined) return aborted(call);
    return this.#execute(call, entry, args.args);
  }

  #info(call: ToolCallBlock, { tool }: CompiledTool, args: unknown): ToolCallInfo {
    const { turn, stop } = this.#host;
    return { call, tool, args, message: this.#message, turn, signal: stop.signal };
  }

  async #execute(call: ToolCallBlock, entry: CompiledTool, args: unknown): Promise<Invoked> {
    const { config, stop, turn, graceMs } = this.#host;
    if (config.onStep !== undefined) {
      const pendingToolCalls = this.#pending();
      await this.#host.step({ kind: "toolStart", turn, messages: [], pendingToolCalls, call, args });
    }
    const begun = this.#host.emit({ type: "tool.start", call, args });
    if (begun !== undefined) await begun;
    const invoked = await invoke(
      entry.tool,
      { id: call.id, name: call.name, args },
      stop,
      graceMs,
      (partial) => {
        this.#update(call.id, partial);
      },
    );
    const updated = this.#updates?.get(call.id)?.end();
    if (updated !== undefined) await updated;
    if (config.afterToolCall === undefined) return invoked;
    return this.#afterCall(call, invoked, config.afterToolCall, this.#info(call, entry, args));
  }

  #update(callId: string, partial: ToolResult): void {
    this.#updates ??= new Map();
    let updates = this.#updates.get(callId);
    if (updates === undefined) {
      updates = new Updates((event) => this.#host.emit(event), callId);
      this.#updates.set(callId, updates);
    }
    updates.push(partial);
  }

  /** What the hook was about to replace is not shown as it was, should the run have to stop first. */
  async #afterCall(
    call: ToolCallBlock,
    invoked: Invoked,
    hook: AfterToolCall,
    info: ToolCallInfo,
  ): Promise<Invoked> {
    const { stop, graceMs } = this.#host;
    try {
      const given = hook({ ...info, result: invoked.result });
      const said =
        given instanceof Promise
          ? await stop.orStopped(
              given.then((result) => ({ result })),
              graceMs,
            )
          : { result: given };
      if (said === undefined) return { result: failed(texts.abortedDuring(call.name)), outcome: "aborted" };
      if (said.result === undefined) return invoked;
      const result = soundResult(said.result, call.name);
      const outcome = invoked.outcome === "ok" && result.isError === true ? "error" : invoked.outcome;
      return { result, outcome };
    } catch (error) {
      return wrong(errorText(error));
    }
  }

  async #finish(index: number, call: ToolCallBlock, done: Invoked, durationMs: number): Promise<void> {
    const { turn, config } = this.#host;
    const message = this.#resultOf(call, done.result);
    this.#results[index] = message;
    if (index > this.#last) this.#last = index;
    if (config.onStep !== undefined) {
      const pendingToolCalls = this.#pending();
      await this.#host.step({ kind: "toolResult", turn, messages: [message], pendingToolCalls, message });
    }
    const { outcome } = done;
    const ended = this.#host.emit({ type: "tool.end", call, result: message, outcome, durationMs });
    if (ended !== undefined) await ended;
  }

  /** What a tool gave may be an object that cannot be read twice, or at all. */
  #resultOf(call: ToolCallBlock, result: ToolResult): ToolResultMessage {
    try {
      return this.#messageOf(call, result);
    } catch (error) {
      return this.#messageOf(call, failed(errorText(error)));
    }
  }

  #messageOf(call: ToolCallBlock, result: ToolResult): ToolResultMessage {
    const { resultChars, config, now, tools } = this.#host;
    const keep = tools.byName.get(call.name)?.tool.truncate ?? "auto";
    return {
      role: "toolResult",
      toolCallId: call.id,
      toolName: call.name,
      content: truncateResult(result.content, resultChars, config.model.contextWindow, keep),
      ...(result.details === undefined ? {} : { details: result.details }),
      isError: result.isError === true,
      timestamp: now(),
    };
  }

  /** Calls get their results nearly in order: all have one before `#first`, and none behind `#last`. */
  #pending(): readonly ToolCallBlock[] {
    const calls = this.#calls;
    while (this.#first <= this.#last && this.#results[this.#first] !== undefined) this.#first++;
    const open: ToolCallBlock[] = [];
    for (let i = this.#first; i <= this.#last; i++) {
      const call = calls[i];
      if (call !== undefined && this.#results[i] === undefined) open.push(call);
    }
    const rest = calls.slice(Math.max(this.#first, this.#last + 1));
    return open.length === 0 ? rest : open.concat(rest);
  }
}
