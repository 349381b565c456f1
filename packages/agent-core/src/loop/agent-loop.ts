import type { AgentContext, AgentLoopConfig } from "../config.ts";
import type { ToolCallBlock } from "../content.ts";
import { Conversation } from "../conversation/conversation.ts";
import { findPendingCalls, getToolCalls } from "../conversation/tool-calls.ts";
import { AgentError, isAgentError, reasonOf } from "../errors.ts";
import type { EmitEvent, InputOrigin, MessageOrigin, QueuedMessages, RunResult } from "../events.ts";
import type { JournalEntry } from "../hooks.ts";
import type { AgentMessage, AssistantMessage, Message } from "../messages.ts";
import type { SystemPrompt } from "../model.ts";
import { Snapshot } from "../snapshot.ts";
import { END_REASONS, STOP_REASONS } from "../stop-reasons.ts";
import type { ToolResult } from "../tool.ts";
import { decidePendingCall, type FirstMessages, getFirstMessages } from "./first-messages.ts";
import { askModel } from "./model-turn.ts";
import type { Part } from "./part.ts";
import { waitUnlessAborted } from "./race.ts";
import { type End, getAnswerText, getTurnError } from "./run-end.ts";
import { RunState } from "./run-state.ts";
import { createLoopNote, texts } from "./texts.ts";
import { type BatchOutcome, type DecidedCall, decideWithoutRunning, ToolBatch } from "./tool-batch.ts";
import { toolCall } from "./tool-call.ts";
import { createFailedCall } from "./tool-result.ts";
import { validateCall } from "./validate-turn.ts";
import { Window } from "./window.ts";

const PARALLEL_CALLS = 16;
const CONTINUATIONS = 2;
/** Maximum number of consecutive pauses by the vendor. After that, the turn is treated as truncated. */
const PAUSES = 16;

/**
 * Runs an agent like `agentLoop`, but passes events to a callback. If `emit` returns a promise, the run waits for it.
 * `emit` must not throw.
 *
 * @throws AgentError if the input is invalid, there is nothing to do, or a hook of the host failed
 */
export async function runAgentLoop(
  context: AgentContext,
  config: AgentLoopConfig,
  emit: EmitEvent,
): Promise<RunResult> {
  return new Run(new Conversation(context.history), context, config, emit).run(context.input ?? []);
}

/**
 * One run. Only this class emits events and records journal entries. Its parts in the neighboring files are generators
 * (`Part`) that yield the events and entries to emit or record before they continue.
 */
export class Run {
  readonly #run: RunState;
  readonly #emit: EmitEvent;
  readonly #system: AgentContext["system"];
  readonly #snapshot: Snapshot;
  readonly #window: Window;
  #last: AssistantMessage | undefined;
  #continuations = 0;
  #pauses = 0;

  /** @throws AgentError `invalid_tool` */
  constructor(
    conversation: Conversation,
    { system, tools }: Pick<AgentContext, "system" | "tools">,
    config: AgentLoopConfig,
    emit: EmitEvent,
    snapshot: Snapshot = new Snapshot(),
  ) {
    this.#run = new RunState(conversation, tools, config);
    this.#emit = emit;
    this.#system = system;
    this.#snapshot = snapshot;
    this.#window = new Window(this.#run);
  }

  /** @throws AgentError if the input is invalid, there is nothing to do, or a hook failed */
  async run(input: readonly AgentMessage[]): Promise<RunResult> {
    try {
      const first = await getFirstMessages(this.#run, input).catch((error: unknown) => {
        throw toAgentError(error);
      });
      await this.#emit({ type: "run.start" });
      const end = await this.#runFrom(first).catch((error: unknown) => this.#fail(error));
      const result = this.#result(end);
      await this.#emit({ type: "run.end", result });
      return result;
    } finally {
      this.#run.stop.dispose();
    }
  }

  /** Summarizes the older part outside a run. Resolves with `false` if there was nothing to gain. */
  async compact(): Promise<boolean> {
    try {
      return await this.#follow(this.#window.compact());
    } finally {
      this.#run.stop.dispose();
    }
  }

  abort(reason: unknown): void {
    this.#run.stop.abort(reason);
  }

  /** The outer loop handles follow-ups, the inner one model turns, their tool calls and steering. */
  async #runFrom({ messages, origin }: FirstMessages): Promise<End> {
    const ended = await this.#completePendingCalls(messages.length > 0);
    await this.#addInput(messages, origin);
    if (ended !== undefined) return ended;
    // Messages that were queued before the run started precede its first turn.
    if (origin === "input") await this.#join("steering");

    for (;;) {
      let end: End | undefined;
      do {
        end = await this.#modelTurn();
        if (end !== undefined && !END_REASONS[end.reason].continues) return end;
      } while ((await this.#join("steering")) || end === undefined);

      if (this.#run.signal.aborted) return this.#run.stop.end;
      const continues = await this.#join("followUps");
      if (!continues) return this.#run.signal.aborted ? this.#run.stop.end : end;
    }
  }

  /** Completes or runs each pending call of an earlier run. Resolves with the end of the run if it ends here. */
  async #completePendingCalls(newInput: boolean): Promise<End | undefined> {
    const open = findPendingCalls(this.#run.conversation.messages);
    if (open === undefined) return undefined;
    const { message } = open;
    const calls = open.calls.map(validateCall);
    const decided: DecidedCall[] = [];
    for (const call of calls) decided.push(await decidePendingCall(this.#run, call, newInput));
    const { end } = await this.#runCalls(message, calls, decided);
    if (newInput && end?.pending !== undefined) {
      // The new input follows the results, so these calls cannot wait any longer.
      const superseded = end.pending.map(() => createFailedCall("skipped", texts.superseded));
      await this.#runCalls(message, end.pending, superseded);
    }
    this.#run.conversation.sortLastResults();
    if (end?.reason === "waiting" && !newInput) return end;
    if (this.#run.signal.aborted) return this.#run.stop.end;
    return end?.reason === "limit" ? end : undefined;
  }

  /** Requests a turn, records it, and runs its calls. Resolves with the end of the run if no turn follows. */
  async #modelTurn(): Promise<End | undefined> {
    const limit = this.#run.budget.reached();
    if (limit !== undefined) return { reason: "limit", limit };
    if (this.#run.signal.aborted) return this.#run.stop.end;
    const turn = ++this.#run.turn;
    this.#run.budget.beginTurn();
    await this.#emit({ type: "turn.start", turn });

    const answer = await this.#answer();
    if (answer === undefined) return this.#run.stop.end;
    const message = this.#run.conversation.ids.own(answer);
    const calls = getToolCalls(message);
    this.#run.budget.addTurn(message);
    this.#last = message;
    this.#snapshot.clear();
    // A turn that failed without producing content is not part of the conversation.
    if (message.content.length > 0 || message.error === undefined) {
      await this.#commit({ kind: "assistant", turn, messages: [message], pendingToolCalls: calls, message });
    }

    const decided = decideWithoutRunning(message, calls, this.#run.budget.spent());
    const { results, steering, end } = await this.#runCalls(message, calls, decided);
    await this.#emit({ type: "turn.end", turn, message, results });
    // Always record these messages, because the host's queue no longer contains them.
    await this.#addInput(steering, "steer");
    if (end?.reason !== "waiting" && this.#run.signal.aborted) return this.#run.stop.end;
    return end ?? this.#after(message, calls.length > 0);
  }

  /** Requests a turn. If the request was too long, shortens it and tries once more. */
  async #answer(): Promise<AssistantMessage | undefined> {
    const given =
      typeof this.#system === "function"
        ? await waitUnlessAborted(this.#system(this.#run.turn), this.#run.signal)
        : this.#system;
    if (given === undefined || this.#run.signal.aborted) return undefined;
    const system = typeof given === "string" ? { stable: given } : given;
    await this.#follow(this.#window.makeRoom(system));
    const message = await this.#ask(system);
    if (message?.stopReason !== "context_overflow") return message;

    const { error } = message;
    const isShorter = await this.#follow(this.#window.afterOverflow(system, error?.contextWindow));
    if (!isShorter || this.#run.signal.aborted) return message;
    this.#run.budget.addRequest(message);
    await this.#emit({ type: "model.discard", reason: "overflow", error: getTurnError(message) });
    return this.#ask(system);
  }

  /** Sends one request to the model. Returns `undefined` if the run has to stop first. */
  async #ask(system: SystemPrompt): Promise<AssistantMessage | undefined> {
    const { budget, config, tools, signal, graceMs, now } = this.#run;
    if (signal.aborted) return undefined;
    const messages = await this.#messages();
    if (signal.aborted) return undefined;
    const { model, stream, streamOptions } = config;
    const context = { system, messages, tools: tools.specs };
    const options = budget.limited({ ...streamOptions, signal }, model);
    const request = { model, stream, context, options, graceMs, snapshot: this.#snapshot, now };
    const { message, failures } = await askModel(request, this.#emit);
    budget.addFailures(failures);
    return message;
  }

  /** Returns the messages of the request after the host's changes. */
  async #messages(): Promise<readonly Message[]> {
    const { added, config, conversation, view, signal, turn } = this.#run;
    if (config.transformContext === undefined) return view.request();
    const own = new Set(added);
    const first = conversation.messages.findIndex((message) => own.has(message));
    const runStart = first < 0 ? view.messages.length : Math.max(0, first - view.hidden);
    const given = config.transformContext(view.messages, { turn, runStart, signal });
    return view.request(await waitUnlessAborted(given, signal));
  }

  /** Runs the calls of a turn, except those already decided. Their results are added to the conversation. */
  async #runCalls(
    message: AssistantMessage,
    calls: readonly ToolCallBlock[],
    decided?: readonly DecidedCall[],
  ): Promise<BatchOutcome> {
    const onUpdate = (callId: string, partial: ToolResult) =>
      this.#emit({ type: "tool.update", callId, partial });
    const batch = new ToolBatch({ run: this.#run, message, onUpdate }, calls, decided);
    let group = await batch.nextGroup();
    for (; group !== undefined; group = await batch.nextGroup()) await this.#runGroup(group, batch);
    const { outcome } = batch;
    await this.#add(outcome.results, "tool");
    return outcome;
  }

  /** Decides the next step once all calls of a turn have results. */
  async #after(message: AssistantMessage, called: boolean): Promise<End | undefined> {
    // An adapter without types may return an unknown stop reason.
    const { next, ends, text } = STOP_REASONS[message.stopReason] ?? STOP_REASONS.error;
    if (text !== "part") {
      this.#continuations = 0;
      this.#pauses = 0;
    }
    const end = { reason: ends };
    switch (next) {
      case "fail":
        return { reason: "error", error: getTurnError(message) };
      case "tools":
        return called ? undefined : end;
      case "resume":
        return ++this.#pauses > PAUSES ? end : undefined;
      case "rest":
        return end;
      case "continue": {
        const { config, now } = this.#run;
        if (++this.#continuations > (config.continuations ?? CONTINUATIONS)) return end;
        // The results already tell the model that the message was truncated.
        if (!called) await this.#addInput([createLoopNote(texts.continueCut, now())], "loop");
        return undefined;
      }
    }
  }

  /** Adds queued messages to the conversation. Resolves with `false` if there were none. */
  async #join(queue: keyof QueuedMessages): Promise<boolean> {
    const messages = await this.#run.take(queue);
    await this.#addInput(messages, queue === "steering" ? "steer" : "followUp");
    return messages.length > 0;
  }

  /** Records input messages. */
  async #addInput(messages: readonly AgentMessage[], origin: InputOrigin): Promise<void> {
    if (messages.length === 0) return;
    await this.#commit({ kind: "input", turn: this.#run.turn, messages, pendingToolCalls: [], origin });
  }

  /** Runs a group of calls, at most `parallelCalls` at a time. */
  async #runGroup(calls: readonly ToolCallBlock[], batch: ToolBatch): Promise<void> {
    const atOnce = Math.max(1, this.#run.config.parallelCalls ?? PARALLEL_CALLS);
    const waiting = [...calls];
    const worker = async (): Promise<void> => {
      try {
        for (let call = waiting.shift(); call !== undefined; call = waiting.shift())
          await this.#runCall(call, batch);
      } finally {
        // After an entry could not be recorded, nothing further may take effect. Calls in flight still finish.
        waiting.length = 0;
      }
    };
    const workers = Array.from({ length: Math.min(atOnce, calls.length) }, worker);
    for (const settled of await Promise.allSettled(workers)) {
      if (settled.status === "rejected") throw settled.reason;
    }
  }

  /** Runs a call and adds its result. A call that waits for a decision has no result. */
  async #runCall(call: ToolCallBlock, batch: ToolBatch): Promise<void> {
    const completed = batch.decide(call) ?? (await this.#follow(toolCall(call, batch.setting)));
    const message = batch.complete(call, completed);
    if (message === undefined || completed === "waiting") return;
    const { turn } = this.#run;
    const pendingToolCalls = batch.setting.pending();
    await this.#commit({ kind: "toolResult", turn, messages: [message], pendingToolCalls, message });
    const { outcome, durationMs = 0 } = completed;
    await this.#emit({ type: "tool.end", call, result: message, outcome, durationMs });
  }

  /** Emits and records everything that a part yields, and returns its value. */
  async #follow<T>(part: Part<T>): Promise<T> {
    for (;;) {
      const { done, value } = await part.next();
      if (done === true) return value;
      await ("kind" in value ? this.#commit(value) : this.#emit(value));
    }
  }

  /**
   * Records an entry, then emits it and adds it to the conversation. Tool results are added later, in the order of
   * their calls.
   *
   * @throws AgentError `journal_failed`
   */
  async #commit(entry: JournalEntry): Promise<void> {
    try {
      await this.#run.config.onJournalEntry?.(entry);
    } catch (error) {
      const what = `The journal entry "${entry.kind}" could not be stored: ${reasonOf(error)}`;
      throw new AgentError("journal_failed", what, { cause: error });
    }
    if (entry.kind === "input") await this.#add(entry.messages, entry.origin);
    if (entry.kind === "assistant") await this.#add(entry.messages, "model");
    if (entry.kind === "compaction") this.#run.conversation.compact(entry.summary, entry.replaced);
    if (entry.kind === "toolStart")
      await this.#emit({ type: "tool.start", call: entry.call, args: entry.args });
  }

  /** Adds recorded messages to the conversation. */
  async #add(messages: readonly AgentMessage[], origin: MessageOrigin): Promise<void> {
    for (const message of messages) {
      this.#run.add(message);
      await this.#emit({ type: "message", message, origin });
    }
  }

  #result(end: End): RunResult {
    const { added: messages, budget } = this.#run;
    const message = this.#last;
    return {
      pending: [],
      ...end,
      messages,
      message,
      text: getAnswerText(messages, message),
      used: budget.used,
    };
  }

  /** Reports a failure that ends the run and throws it. */
  async #fail(error: unknown): Promise<never> {
    const failure = toAgentError(error);
    const { code, message } = failure;
    const { unsaved } = this.#run;
    const result = { ...this.#result({ reason: "error" }), failure: { code, message, unsaved } };
    await this.#emit({ type: "run.end", result });
    throw failure;
  }
}

/** Any error that is not an `AgentError` comes from a hook of the host. */
function toAgentError(error: unknown): AgentError {
  return isAgentError(error) ? error : new AgentError("hook_failed", reasonOf(error), { cause: error });
}
