import type { AgentContext, AgentLoopConfig } from "../config.ts";
import type { ToolCallBlock } from "../content.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { type Unanswered, unansweredCalls } from "../conversation/pending.ts";
import { toolCalls } from "../conversation/repair.ts";
import { AgentError, asAgentError, errorText } from "../errors.ts";
import type { EmitEvent, MessageOrigin, RunResult } from "../events.ts";
import type { Step } from "../hooks.ts";
import type { AgentMessage, AssistantMessage, Message } from "../messages.ts";
import type { StreamOptions, SystemPrompt } from "../model.ts";
import { maxResultChars } from "../overflow/truncate.ts";
import { compileTools, type ToolSet } from "../schema/compile.ts";
import { Snapshot } from "../snapshot.ts";
import type { CallHost } from "./call-host.ts";
import { type CallsOutcome, endByCalls, TurnCalls } from "./calls.ts";
import {
  type After,
  DONE,
  type End,
  endOf,
  failedBy,
  ON,
  overflowOf,
  rest,
  resultOf,
  stoppedBy,
} from "./ends.ts";
import { Fit, type FitHost, PRUNE_AT } from "./fit.ts";
import { checkInput, type IntakeHost, note, type Opening, openingWithoutInput, take } from "./intake.ts";
import { streamTurn, type TurnHost } from "./model-turn.ts";
import { presetsFor } from "./presets.ts";
import { Repeats } from "./repeats.ts";
import { RunSignal, withSignal } from "./run-signal.ts";
import { Tally } from "./tally.ts";
import { texts } from "./texts.ts";

const GRACE_MS = 1_000;
const CONTINUATIONS = 2;
/** How often in a row a vendor may ask to be called again before it counts as cut. */
const PAUSES = 16;

/**
 * One run over a conversation: the double loop, outside over follow-ups, inside over tool calls and steering.
 *
 * Like `Conversation`, `RunSignal`, `StreamedTurn` and `Tally`, which are made or used once a run and are no part of the
 * package's interface, it keeps its members private by type alone: private names cost more in every access until code is optimised, which
 * takes some thousand runs.
 */
export class Run implements CallHost, FitHost, IntakeHost, TurnHost {
  readonly config: AgentLoopConfig;
  readonly conversation: Conversation;
  readonly tools: ToolSet;
  readonly stop: RunSignal;
  readonly tally: Tally;
  readonly graceMs: number;
  readonly now: () => number;
  readonly emit: EmitEvent;
  readonly snapshot: Snapshot;
  turn = 0;
  private readonly system: AgentContext["system"];
  private madeFit: Fit | undefined;
  private madeRepeats: Repeats | undefined;
  private readonly options: StreamOptions;
  private readonly added: AgentMessage[] = [];
  private last: AssistantMessage | undefined;
  private runStart: number;
  private continuations = 0;
  private pauses = 0;

  /** @throws AgentError `invalid_tool` */
  constructor(
    conversation: Conversation,
    context: Pick<AgentContext, "system" | "tools">,
    config: AgentLoopConfig,
    emit: EmitEvent,
    snapshot: Snapshot = new Snapshot(),
  ) {
    this.config = config;
    this.conversation = conversation;
    this.tools = compileTools(context.tools);
    this.tally = new Tally(config.limits ?? {});
    this.graceMs = config.abortGraceMs ?? GRACE_MS;
    this.now = config.now ?? Date.now;
    this.stop = new RunSignal(config.signal, config.limits?.wallMs);
    this.system = context.system;
    this.emit = emit;
    this.snapshot = snapshot;
    this.options = withSignal(config.streamOptions, this.stop);
    this.runStart = conversation.messages.length;
    conversation.configure(config.convertToLlm, config.context?.historyTurns);
  }

  // What only tool calls or long conversations need is made when the first of them comes.
  get repeats(): Repeats {
    this.madeRepeats ??= new Repeats(this.config.repeat ?? {});
    return this.madeRepeats;
  }

  get resultChars(): number {
    return this.config.context?.resultChars ?? maxResultChars(this.config.model.contextWindow);
  }

  private get fit(): Fit {
    this.madeFit ??= new Fit(this);
    return this.madeFit;
  }

  get signal(): AbortSignal {
    return this.stop.signal;
  }

  /**
   * Calls `onEnd` last of all, without a result when it rejects.
   * @throws AgentError for wrong input, nothing to do, or a failed hook
   */
  async execute(
    input: readonly AgentMessage[],
    onEnd?: (result: RunResult | undefined) => void,
  ): Promise<RunResult> {
    let result: RunResult | undefined;
    try {
      const { messages } = this.conversation;
      const opening: Opening =
        input.length > 0
          ? { messages: checkInput(input), origin: "input" }
          : await openingWithoutInput(messages, this);
      const started = this.emit({ type: "run.start" });
      if (started !== undefined) await started;
      try {
        const open = messages.length === 0 ? undefined : unansweredCalls(messages);
        let end = open === undefined ? undefined : await this.settle(open, opening.messages.length > 0);
        const kept = this.commit(opening.messages, opening.origin);
        if (kept !== undefined) await kept;
        if (end === undefined && opening.origin === "input") {
          // What was said before the run began belongs before its first turn.
          const taken = take(this.config.steering, this);
          const steering = taken instanceof Promise ? await taken : taken;
          if (steering.length > 0) await this.commit(steering, "steer");
        }
        // Model turns, their calls and steering, until the agent would rest; then follow-ups, until there are none.
        while (end === undefined) {
          const after = await this.modelTurn();
          if (after.go === "end") {
            end = after.end;
            break;
          }
          const said = take(this.config.steering, this);
          const steering = said instanceof Promise ? await said : said;
          if (steering.length > 0) await this.commit(steering, "steer");
          else if (after.go === "rest") {
            if (this.stop.cause !== undefined) {
              end = stoppedBy(this.stop.cause);
              break;
            }
            const next = take(this.config.followUps, this);
            const followUps = next instanceof Promise ? await next : next;
            if (followUps.length > 0) await this.commit(followUps, "followUp");
            else end = this.stop.cause === undefined ? { reason: after.reason } : stoppedBy(this.stop.cause);
          }
        }
        result = resultOf(end, this.added, this.last, this.tally);
      } catch (error) {
        throw await this.failure(error);
      }
      this.stop.dispose();
      const told = this.emit({ type: "run.end", result });
      if (told !== undefined) await told;
      return result;
    } finally {
      if (result === undefined) this.stop.dispose();
      onEnd?.(result);
    }
  }

  /** What a run that cannot go on rejects with; told first. */
  private async failure(error: unknown): Promise<AgentError> {
    const failure = asAgentError(error, "hook_failed");
    const { code, message } = failure;
    const soFar = resultOf({ reason: "error" }, this.added, this.last, this.tally);
    const result = { ...soFar, failure: { code, message } };
    await this.emit({ type: "run.end", result });
    return failure;
  }

  /** Summarises the older part now, outside a run. */
  async compact(): Promise<boolean> {
    try {
      return (await this.fit.manual()) > 0;
    } finally {
      this.stop.dispose();
    }
  }

  async step(step: Step): Promise<void> {
    try {
      await this.config.onStep?.(step);
    } catch (error) {
      throw new AgentError("step_failed", `A step (${step.kind}) could not be kept: ${errorText(error)}`, {
        cause: error,
      });
    }
  }

  private async modelTurn(): Promise<After> {
    const limit = this.tally.reached();
    if (limit !== undefined) return endOf({ reason: "limit", limit });
    if (this.stop.cause !== undefined) return endOf(stoppedBy(this.stop.cause));
    this.turn++;
    const started = this.emit({ type: "turn.start", turn: this.turn });
    if (started !== undefined) await started;
    this.tally.inVainMs = 0;
    const { stop } = this;
    const prompt = typeof this.system === "function" ? this.system(this.turn) : this.system;
    const system = prompt instanceof Promise ? await stop.orStopped(prompt) : prompt;
    if (system === undefined) return endOf(stoppedBy(stop.cause));
    const { model, context } = this.config;
    const room = model.contextWindow * (context?.pruneAt ?? PRUNE_AT);
    const prefix = system.stable.length + (system.volatile?.length ?? 0) + this.tools.mostTokens;
    // Most requests are short enough by far, which the length of the texts alone tells.
    if (this.conversation.mostTokens(prefix) > room && !this.fit.fits(system)) {
      this.shift(await this.fit.before(system));
    }
    if (stop.cause !== undefined) return endOf(stoppedBy(stop.cause));
    // As `transformed` has it, without a wait where there is nothing to wait for.
    const messages =
      this.config.transformContext === undefined ? this.conversation.request() : await this.transformed();
    if (messages === undefined || stop.cause !== undefined) return endOf(stoppedBy(stop.cause));
    const request = { system, messages, tools: this.tools.specs };
    const given = await streamTurn(this, request, this.tally.clip(this.options, model));
    const answered = given.stopReason === "context_overflow" ? await this.askShorter(system, given) : given;
    if (answered === undefined) return endOf(stoppedBy(stop.cause));
    const asked = toolCalls(answered);
    const message = asked.length === 0 ? answered : this.conversation.withOwnIds(answered);
    this.tally.addTurn(message);
    const calls = message === answered ? asked : toolCalls(message);
    this.last = message;
    this.snapshot.clear();
    // A turn that failed before it said anything is no part of the conversation.
    const empty = message.content.length === 0 && message.error !== undefined;
    const kept = empty ? undefined : this.commit([message], "model", calls);
    if (kept !== undefined) await kept;
    const outcome = calls.length === 0 ? undefined : await this.runCalls(message, calls);
    const results = outcome?.results ?? [];
    const ended = this.emit({ type: "turn.end", turn: this.turn, message, results });
    if (ended !== undefined) await ended;
    // Taken from the host's queue, so it has to be kept whatever follows.
    const said = outcome === undefined ? undefined : this.commit(outcome.steering, "steer");
    if (said !== undefined) await said;
    return this.following(message, calls.length > 0, outcome);
  }

  /** The vendor had no room for the request: one more try with a shorter one, where there is one. */
  private async askShorter(
    system: SystemPrompt,
    tooLong: AssistantMessage,
  ): Promise<AssistantMessage | undefined> {
    const replaced = await this.fit.afterOverflow(system);
    if (replaced === undefined || this.stop.cause !== undefined) return tooLong;
    this.tally.add(tooLong);
    this.shift(replaced);
    await this.emit({ type: "model.discard", reason: "overflow", error: overflowOf(tooLong) });
    const messages = await this.transformed();
    if (messages === undefined || this.stop.cause !== undefined) return undefined;
    const request = { system, messages, tools: this.tools.specs };
    return streamTurn(this, request, this.tally.clip(this.options, this.config.model));
  }

  /** What is sent, as the host would have it. `undefined` when the run has to stop first. */
  private async transformed(): Promise<readonly Message[] | undefined> {
    const { conversation, stop, turn } = this;
    if (this.config.transformContext === undefined) return conversation.request();
    const runStart = Math.max(0, this.runStart - conversation.hidden());
    const given = this.config.transformContext(conversation.view(), { turn, runStart, signal: stop.signal });
    const messages = await stop.orStopped(Promise.resolve(given));
    return messages === undefined || stop.cause !== undefined ? undefined : conversation.requestOf(messages);
  }

  private async runCalls(message: AssistantMessage, calls: readonly ToolCallBlock[]): Promise<CallsOutcome> {
    const turn = new TurnCalls(this, message, calls);
    let outcome: CallsOutcome;
    if (message.stopReason === "tool_use") {
      const spent = this.tally.spent();
      outcome = spent === undefined ? await turn.run() : await turn.skipAll(texts.limit(spent), "skipped");
    } else if (message.stopReason === "aborted") {
      outcome = await turn.skipAll("", "aborted");
    } else {
      const cut = message.stopReason === "max_tokens";
      outcome = await turn.skipAll(cut ? texts.cut : texts.notAsked(message.stopReason), "skipped");
    }
    const added = this.addAll(outcome.results, "tool");
    if (added !== undefined) await added;
    return outcome;
  }

  private following(
    message: AssistantMessage,
    called: boolean,
    outcome: CallsOutcome | undefined,
  ): After | Promise<After> {
    const { stopReason } = message;
    if (outcome !== undefined || this.stop.cause !== undefined) {
      const end = endByCalls(outcome, this.stop.cause);
      if (end !== undefined) return endOf(end);
    }
    if (stopReason !== "max_tokens" && stopReason !== "pause") {
      this.continuations = 0;
      this.pauses = 0;
    }
    switch (stopReason) {
      case "tool_use":
        return called ? ON : DONE;
      case "end_turn":
      case "stop_sequence":
        return DONE;
      case "max_tokens":
        if (this.continuations >= (this.config.continuations ?? CONTINUATIONS)) return rest("cut");
        this.continuations++;
        // Results already say that the message was cut.
        return called ? ON : this.goOn();
      case "pause":
        return ++this.pauses <= PAUSES ? ON : rest("cut");
      case "refusal":
      case "filter":
        return rest(stopReason);
      // Also what an adapter written without types says in its own words.
      default:
        return endOf(failedBy(message));
    }
  }

  private async goOn(): Promise<After> {
    await this.commit([note(texts.continueCut, this.now())], "loop");
    return ON;
  }

  /** Gives each call an earlier run left open its result, or runs it. Resolves with the end when one has to wait. */
  private async settle(open: Unanswered, newInput: boolean): Promise<End | undefined> {
    const presets = await presetsFor(open.calls, newInput, this);
    const outcome = await new TurnCalls(this, open.message, open.calls, presets).run();
    await this.addAll(outcome.results, "tool");
    if (newInput && outcome.waiting.length > 0) {
      // What was said has its place behind the results, so a call can wait no longer.
      const waiting = new TurnCalls(this, open.message, outcome.waiting);
      await this.addAll((await waiting.skipAll(texts.superseded, "skipped")).results, "tool");
    }
    this.conversation.sortLastResults();
    if (outcome.end === "waiting" && !newInput) return { reason: "waiting", pending: outcome.waiting };
    if (this.stop.cause !== undefined) return stoppedBy(this.stop.cause);
    if (outcome.limit !== undefined) return { reason: "limit", limit: outcome.limit };
    return undefined;
  }

  /** Keeps input, or a model's turn and the calls it made: durable first, then part of the conversation and told. */
  private commit(
    messages: readonly AgentMessage[],
    origin: Opening["origin"] | "model",
    calls: readonly ToolCallBlock[] = [],
  ): void | Promise<void> {
    if (messages.length === 0) return;
    if (this.config.onStep === undefined) return this.addAll(messages, origin);
    const first = messages[0];
    const base = { turn: this.turn, messages, pendingToolCalls: calls };
    if (origin !== "model") return this.keep({ kind: "input", ...base, origin }, origin);
    if (first?.role !== "assistant") throw new TypeError("A model's turn is an assistant message.");
    return this.keep({ kind: "assistant", ...base, message: first }, origin);
  }

  private async keep(step: Step, origin: MessageOrigin): Promise<void> {
    await this.step(step);
    const added = this.addAll(step.messages, origin);
    if (added !== undefined) await added;
  }

  private addAll(messages: readonly AgentMessage[], origin: MessageOrigin): void | Promise<void> {
    const only = messages[0];
    if (only !== undefined && messages.length === 1) return this.add(only, origin);
    return this.addInTurn(messages, origin);
  }

  private async addInTurn(messages: readonly AgentMessage[], origin: MessageOrigin): Promise<void> {
    for (const message of messages) {
      const added = this.add(message, origin);
      if (added !== undefined) await added;
    }
  }

  private add(message: AgentMessage, origin: MessageOrigin): void | Promise<void> {
    this.conversation.append(message);
    this.added.push(message);
    return this.emit({ type: "message", message, origin });
  }

  /** Keeps the start of the run where it is when messages before it were replaced by one summary. */
  private shift(replaced: number): void {
    if (replaced > 0) this.runStart = Math.max(1, this.runStart - replaced + 1);
  }
}
