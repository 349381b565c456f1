import type { AgentContext, AgentLoopConfig } from "../config.ts";
import type { ToolCallBlock } from "../content.ts";
import { Conversation } from "../conversation/conversation.ts";
import { toolCalls } from "../conversation/tool-calls.ts";
import { asAgentError } from "../errors.ts";
import type { EmitEvent, EndReason, RunResult } from "../events.ts";
import type { AgentMessage, AssistantMessage, Message } from "../messages.ts";
import type { SystemPrompt } from "../model.ts";
import { Snapshot } from "../snapshot.ts";
import { STOP_REASONS } from "../stop-reasons.ts";
import { askModel } from "./model-turn.ts";
import { type Opening, openingOf, settleOpenCalls } from "./opening.ts";
import { untilStopped } from "./race.ts";
import { type End, errorOf, resultOf, stoppedBy } from "./run-result.ts";
import { loopNote, RunState } from "./run-state.ts";
import { texts } from "./texts.ts";
import { type BatchOutcome, ToolBatch } from "./tool-batch.ts";
import { abortedCall, failedCall, type SettledCall } from "./tool-result.ts";
import { Window } from "./window.ts";

const CONTINUATIONS = 2;
/** How often in a row a vendor may ask to be called again before it counts as cut. */
const PAUSES = 16;

/** What follows a model turn: another one, a rest unless somebody has more to say, or the end. */
type Next =
  | { readonly go: "on" }
  | { readonly go: "rest"; readonly end: End }
  | { readonly go: "end"; readonly end: End };

/**
 * One run with its events as plain calls. A promise that `emit` gives is awaited before the run goes on; it must not
 * throw.
 * @throws AgentError when the input is wrong, there is nothing to do, or a hook of the host failed
 */
export async function runAgentLoop(
  context: AgentContext,
  config: AgentLoopConfig,
  emit: EmitEvent,
): Promise<RunResult> {
  return new Run(new Conversation(context.history), context, config, emit).run(context.input ?? []);
}

/** One run over a conversation. */
export class Run {
  readonly #state: RunState;
  readonly #system: AgentContext["system"];
  readonly #snapshot: Snapshot;
  readonly #window: Window;
  /** Where in the history the run's own messages begin. */
  #runStart: number;
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
    this.#state = new RunState(conversation, tools, config, emit);
    this.#system = system;
    this.#snapshot = snapshot;
    this.#window = new Window(this.#state);
    this.#runStart = conversation.messages.length;
  }

  /** @throws AgentError for wrong input, nothing to do, or a failed hook */
  async run(input: readonly AgentMessage[]): Promise<RunResult> {
    try {
      const opening = await openingOf(this.#state, input);
      await this.#state.emit({ type: "run.start" });
      const end = await this.#runFrom(opening).catch((error: unknown) => this.#fail(error));
      this.#state.stop.dispose();
      const result = this.#result(end);
      await this.#state.emit({ type: "run.end", result });
      return result;
    } finally {
      this.#state.stop.dispose();
    }
  }

  /** The double loop: outside over follow-ups, inside over model turns, their tool calls and steering. */
  async #runFrom(opening: Opening): Promise<End> {
    const ended = await settleOpenCalls(this.#state, opening.messages.length > 0);
    await this.#state.commitInput(opening.messages, opening.origin);
    if (ended !== undefined) return ended;
    // What was said before the run began belongs before its first turn.
    if (opening.origin === "input") await this.#commitSteering();

    for (;;) {
      let next: Next;
      let steered: boolean;
      do {
        next = await this.#modelTurn();
        if (next.go === "end") return next.end;
        steered = await this.#commitSteering();
      } while (steered || next.go === "on");

      if (this.#state.signal.aborted) return stoppedBy(this.#state.signal);
      const followUps = await this.#state.takeFollowUps();
      await this.#state.commitInput(followUps, "followUp");
      if (followUps.length === 0)
        return this.#state.signal.aborted ? stoppedBy(this.#state.signal) : next.end;
    }
  }

  /** Asks the model, keeps its turn, and runs the calls it asks for. */
  async #modelTurn(): Promise<Next> {
    const limit = this.#state.budget.reached();
    if (limit !== undefined) return endWith({ reason: "limit", limit });
    if (this.#state.signal.aborted) return endWith(stoppedBy(this.#state.signal));
    this.#state.turn++;
    this.#state.budget.beginTurn();
    await this.#state.emit({ type: "turn.start", turn: this.#state.turn });

    const answer = await this.#answer();
    if (answer === undefined) return endWith(stoppedBy(this.#state.signal));
    const message = this.#state.conversation.withOwnIds(answer);
    const calls = toolCalls(message);
    this.#state.budget.addTurn(message);
    this.#last = message;
    this.#snapshot.clear();
    // A turn that failed before it said anything is no part of the conversation.
    const empty = message.content.length === 0 && message.error !== undefined;
    if (!empty) await this.#state.commitTurn(message, calls);

    const batch = await new ToolBatch(this.#state, message, calls, this.#whyNotRun(message, calls)).run();
    await this.#state.add(batch.results, "tool");
    await this.#state.emit({ type: "turn.end", turn: this.#state.turn, message, results: batch.results });
    // Taken from the host's queue, so it has to be kept whatever follows.
    await this.#state.commitInput(batch.steering, "steer");
    return this.#after(message, batch, calls.length > 0);
  }

  /** The model's turn, asked for once more with a shorter request where the vendor had no room for the first. */
  async #answer(): Promise<AssistantMessage | undefined> {
    const system = await this.#systemPrompt();
    if (system === undefined) return undefined;
    this.#shiftStart(await this.#state.follow(this.#window.makeRoom(system)));
    const message = await this.#ask(system);
    if (message?.stopReason !== "context_overflow") return message;

    const makingRoom = this.#window.afterOverflow(system, message.error?.contextWindow);
    const replaced = await this.#state.follow(makingRoom);
    if (replaced === undefined || this.#state.signal.aborted) return message;
    this.#state.budget.addRequest(message);
    this.#shiftStart(replaced);
    await this.#state.emit({ type: "model.discard", reason: "overflow", error: errorOf(message) });
    return this.#ask(system);
  }

  async #systemPrompt(): Promise<SystemPrompt | undefined> {
    const system = this.#system;
    const { signal, turn } = this.#state;
    if (typeof system !== "function") return signal.aborted ? undefined : system;
    return untilStopped(system(turn), signal);
  }

  /** One request to the model; `undefined` where the run has to stop first. */
  async #ask(system: SystemPrompt): Promise<AssistantMessage | undefined> {
    const messages = !this.#state.signal.aborted ? await this.#messages() : undefined;
    if (messages === undefined || this.#state.signal.aborted) return undefined;
    const { config, tools, signal, graceMs, now } = this.#state;
    const snapshot = this.#snapshot;
    const { model, stream, streamOptions } = config;
    const context = { system, messages, tools: tools.specs };
    const options = this.#state.budget.limited({ ...streamOptions, signal }, model);
    const turn = await askModel(
      { model, stream, context, options, graceMs, snapshot, now },
      this.#state.emit,
    );
    this.#state.budget.addUsage(turn.spentBefore);
    return turn.message;
  }

  /** What is sent, as the host would have it. */
  async #messages(): Promise<readonly Message[] | undefined> {
    const { config, view, signal } = this.#state;
    if (config.transformContext === undefined) return view.request();
    const runStart = Math.max(0, this.#runStart - view.hidden);
    const given = config.transformContext(view.messages, { turn: this.#state.turn, runStart, signal });
    const changed = await untilStopped(given, signal);
    return !this.#state.signal.aborted ? view.request(changed) : undefined;
  }

  /** Calls run where the turn ended to have them run, and as long as they may; otherwise each gets an answer. */
  #whyNotRun({ stopReason }: AssistantMessage, calls: readonly ToolCallBlock[]): SettledCall[] | undefined {
    const spent = this.#state.budget.spent();
    if (stopReason === "aborted") return calls.map(abortedCall);
    if (stopReason === "tool_use" && spent === undefined) return undefined;
    let why = texts.notAsked(stopReason);
    if (stopReason === "max_tokens") why = texts.cut;
    else if (stopReason === "tool_use") why = texts.limit(spent ?? "");
    return calls.map(() => failedCall("skipped", why));
  }

  async #after(message: AssistantMessage, batch: BatchOutcome, called: boolean): Promise<Next> {
    const { end } = batch;
    if (end?.reason === "waiting") return endWith({ reason: "waiting", pending: batch.waiting });
    if (this.#state.signal.aborted) return endWith(stoppedBy(this.#state.signal));
    if (end !== undefined) return endWith(end);

    // An adapter written without types may say something else in its own words.
    const rule = STOP_REASONS[message.stopReason] ?? STOP_REASONS.error;
    if (rule.text !== "part") {
      this.#continuations = 0;
      this.#pauses = 0;
    }
    switch (rule.next) {
      case "tools":
        return called ? GO_ON : restWith(rule.ends);
      case "rest":
        return restWith(rule.ends);
      case "resume":
        return ++this.#pauses <= PAUSES ? GO_ON : restWith(rule.ends);
      case "continue":
        if (++this.#continuations > (this.#state.config.continuations ?? CONTINUATIONS))
          return restWith(rule.ends);
        // Results already say that the message was cut.
        if (!called) await this.#state.commitInput([loopNote(texts.continueCut, this.#state.now())], "loop");
        return GO_ON;
      case "fail":
        return endWith({ reason: "error", error: errorOf(message) });
    }
  }

  async #commitSteering(): Promise<boolean> {
    const steering = await this.#state.takeSteering();
    await this.#state.commitInput(steering, "steer");
    return steering.length > 0;
  }

  abort(reason: unknown): void {
    this.#state.stop.abort(reason);
  }

  /** Summarises the older part now, outside a run. Resolves with whether there was something to gain. */
  async compact(): Promise<boolean> {
    try {
      return (await this.#state.follow(this.#window.compactNow())) > 0;
    } finally {
      this.#state.stop.dispose();
    }
  }

  #result(end: End): RunResult {
    return resultOf(end, this.#state.added, this.#last, this.#state.budget.used);
  }

  /** What a run that cannot go on rejects with; told first. */
  async #fail(error: unknown): Promise<never> {
    const failure = asAgentError(error, "hook_failed");
    const { code, message } = failure;
    const { unkept } = this.#state;
    const result = { ...this.#result({ reason: "error" }), failure: { code, message, unkept } };
    await this.#state.emit({ type: "run.end", result });
    throw failure;
  }

  /** Keeps the start of the run where it is when messages before it gave way to one summary. */
  #shiftStart(replaced: number): void {
    if (replaced > 0) this.#runStart = Math.max(1, this.#runStart - replaced + 1);
  }
}

const GO_ON: Next = { go: "on" };

function restWith(reason: EndReason): Next {
  return { go: "rest", end: { reason } };
}

function endWith(end: End): Next {
  return { go: "end", end };
}
