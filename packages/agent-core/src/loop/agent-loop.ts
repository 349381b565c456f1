import type { AgentContext, AgentLoopConfig } from "../config.ts";
import type { ToolCallBlock } from "../content.ts";
import { Conversation } from "../conversation/conversation.ts";
import { toolCalls } from "../conversation/tool-calls.ts";
import { AgentError, isAgentError, reasonOf } from "../errors.ts";
import type { EmitEvent, EndReason, RunResult } from "../events.ts";
import type { AgentMessage, AssistantMessage, Message } from "../messages.ts";
import type { SystemPrompt } from "../model.ts";
import { Snapshot } from "../snapshot.ts";
import { STOP_REASONS } from "../stop-reasons.ts";
import { askModel } from "./model-turn.ts";
import { type Opening, openingOf, settleOpenCalls } from "./opening.ts";
import { untilStopped } from "./race.ts";
import { answerText, type End, errorOf } from "./run-end.ts";
import { loopNote, RunState } from "./run-state.ts";
import { texts } from "./texts.ts";
import { ToolBatch } from "./tool-batch.ts";
import { abortedCall, failedCall, type SettledCall } from "./tool-result.ts";
import { Window } from "./window.ts";

const CONTINUATIONS = 2;
/** How often in a row a vendor may ask to be called again before it counts as cut. */
const PAUSES = 16;

/** Ends that steering or a follow-up puts off; any other is final. */
const RESTS: ReadonlySet<EndReason> = new Set(["done", "cut", "refusal", "filter"]);

/**
 * One run with its events as plain calls. A promise that `emit` returns is awaited before the run continues; it must
 * not throw.
 * @throws AgentError when the input is wrong, there is nothing to do, or a hook of the host failed
 */
export async function runAgentLoop(
  context: AgentContext,
  config: AgentLoopConfig,
  emit: EmitEvent,
): Promise<RunResult> {
  return new Run(new Conversation(context.history), context, config, emit).run(context.input ?? []);
}

export class Run {
  readonly #run: RunState;
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
    this.#run = new RunState(conversation, tools, config, emit);
    this.#system = system;
    this.#snapshot = snapshot;
    this.#window = new Window(this.#run);
  }

  /** @throws AgentError for wrong input, nothing to do, or a failed hook */
  async run(input: readonly AgentMessage[]): Promise<RunResult> {
    try {
      const opening = await openingOf(this.#run, input);
      await this.#run.emit({ type: "run.start" });
      const end = await this.#runFrom(opening).catch((error: unknown) => this.#fail(error));
      const result = this.#result(end);
      await this.#run.emit({ type: "run.end", result });
      return result;
    } finally {
      this.#run.stop.dispose();
    }
  }

  /** The double loop: outside over follow-ups, inside over model turns, their tool calls and steering. */
  async #runFrom(opening: Opening): Promise<End> {
    const ended = await settleOpenCalls(this.#run, opening.messages.length > 0);
    await this.#run.commitInput(opening.messages, opening.origin);
    if (ended !== undefined) return ended;
    // What was said before the run began belongs before its first turn.
    if (opening.origin === "input") await this.#run.join("steering");

    for (;;) {
      let end: End | undefined;
      do {
        end = await this.#modelTurn();
        if (end !== undefined && !RESTS.has(end.reason)) return end;
      } while ((await this.#run.join("steering")) || end === undefined);

      if (this.#run.signal.aborted) return this.#run.stop.end;
      const goesOn = await this.#run.join("followUps");
      if (!goesOn) return this.#run.signal.aborted ? this.#run.stop.end : end;
    }
  }

  /** Asks the model, keeps its turn, and runs the calls it asks for. Resolves with the end where no turn follows. */
  async #modelTurn(): Promise<End | undefined> {
    const run = this.#run;
    const limit = run.budget.reached();
    if (limit !== undefined) return { reason: "limit", limit };
    if (run.signal.aborted) return run.stop.end;
    run.turn++;
    run.budget.beginTurn();
    await run.emit({ type: "turn.start", turn: run.turn });

    const answer = await this.#answer();
    if (answer === undefined) return run.stop.end;
    const message = run.conversation.ids.own(answer);
    const calls = toolCalls(message);
    run.budget.addTurn(message);
    this.#last = message;
    this.#snapshot.clear();
    // A turn that failed before it said anything is no part of the conversation.
    if (message.content.length > 0 || message.error === undefined) {
      const messages = [message];
      await run.keep({ kind: "assistant", turn: run.turn, messages, pendingToolCalls: calls, message });
      await run.add(messages, "model");
    }

    const batch = await new ToolBatch(run, message, calls, this.#whyNotRun(message, calls)).run();
    await run.add(batch.results, "tool");
    await run.emit({ type: "turn.end", turn: run.turn, message, results: batch.results });
    // Taken from the host's queue, so it has to be kept whatever follows.
    await run.commitInput(batch.steering, "steer");
    if (batch.end?.reason !== "waiting" && run.signal.aborted) return run.stop.end;
    return batch.end ?? this.#after(message, calls.length > 0);
  }

  /** The model's turn, asked for once more with a shorter request where the vendor had no room for the first. */
  async #answer(): Promise<AssistantMessage | undefined> {
    const { signal, turn } = this.#run;
    const given = this.#system;
    const system = typeof given === "function" ? await untilStopped(given(turn), signal) : given;
    if (system === undefined || signal.aborted) return undefined;
    await this.#window.makeRoom(system);
    const message = await this.#ask(system);
    if (message?.stopReason !== "context_overflow") return message;

    const isShorter = await this.#window.afterOverflow(system, message.error?.contextWindow);
    if (!isShorter || signal.aborted) return message;
    this.#run.budget.addRequest(message);
    await this.#run.emit({ type: "model.discard", reason: "overflow", error: errorOf(message) });
    return this.#ask(system);
  }

  /** One request to the model; `undefined` where the run has to stop first. */
  async #ask(system: SystemPrompt): Promise<AssistantMessage | undefined> {
    const { budget, config, tools, signal, graceMs, now } = this.#run;
    if (signal.aborted) return undefined;
    const messages = await this.#messages();
    if (signal.aborted) return undefined;
    const { model, stream, streamOptions } = config;
    const context = { system, messages, tools: tools.specs };
    const options = budget.limited({ ...streamOptions, signal }, model);
    const request = { model, stream, context, options, graceMs, snapshot: this.#snapshot, now };
    const { message, spentBefore } = await askModel(request, this.#run.emit);
    budget.addUsage(spentBefore);
    return message;
  }

  /** What is sent, as the host would have it. */
  async #messages(): Promise<readonly Message[]> {
    const { added, config, conversation, view, signal, turn } = this.#run;
    if (config.transformContext === undefined) return view.request();
    const own = new Set(added);
    const first = conversation.messages.findIndex((message) => own.has(message));
    const runStart = first < 0 ? view.messages.length : Math.max(0, first - view.hidden);
    const given = config.transformContext(view.messages, { turn, runStart, signal });
    return view.request(await untilStopped(given, signal));
  }

  /** Calls run where the turn ended to have them run, and as long as they may; otherwise each gets an answer. */
  #whyNotRun({ stopReason }: AssistantMessage, calls: readonly ToolCallBlock[]): SettledCall[] | undefined {
    if (stopReason === "aborted") return calls.map(abortedCall);
    const spent = this.#run.budget.spent();
    if (stopReason === "tool_use" && spent === undefined) return undefined;
    const why =
      spent !== undefined && stopReason === "tool_use" ? texts.limit(spent) : texts.notAsked(stopReason);
    return calls.map(() => failedCall("skipped", why));
  }

  /** What a turn leads to whose calls, if it has any, all have their results. */
  async #after(message: AssistantMessage, called: boolean): Promise<End | undefined> {
    // An adapter written without types may say something else in its own words.
    const { next, ends, text } = STOP_REASONS[message.stopReason] ?? STOP_REASONS.error;
    if (text !== "part") {
      this.#continuations = 0;
      this.#pauses = 0;
    }
    switch (next) {
      case "tools":
        return called ? undefined : { reason: ends };
      case "rest":
        return { reason: ends };
      case "resume":
        return ++this.#pauses > PAUSES ? { reason: ends } : undefined;
      case "continue":
        if (++this.#continuations > (this.#run.config.continuations ?? CONTINUATIONS))
          return { reason: ends };
        // Results already say that the message was cut.
        if (!called) await this.#run.commitInput([loopNote(texts.continueCut, this.#run.now())], "loop");
        return undefined;
      case "fail":
        return { reason: "error", error: errorOf(message) };
    }
  }

  abort(reason: unknown): void {
    this.#run.stop.abort(reason);
  }

  /** Summarises the older part now, outside a run. Resolves with whether there was something to gain. */
  async compact(): Promise<boolean> {
    try {
      return await this.#window.compact("manual", this.#run.tokens.total(0));
    } finally {
      this.#run.stop.dispose();
    }
  }

  #result(end: End): RunResult {
    const { added: messages, budget } = this.#run;
    const message = this.#last;
    return { pending: [], ...end, messages, message, text: answerText(messages, message), used: budget.used };
  }

  /** What a run that cannot go on rejects with; told first. */
  async #fail(error: unknown): Promise<never> {
    const failure = isAgentError(error)
      ? error
      : new AgentError("hook_failed", reasonOf(error), { cause: error });
    const { code, message } = failure;
    const { unkept } = this.#run;
    const result = { ...this.#result({ reason: "error" }), failure: { code, message, unkept } };
    await this.#run.emit({ type: "run.end", result });
    throw failure;
  }
}
