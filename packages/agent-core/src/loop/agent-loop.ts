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
import { answerText, type End, errorOf, stoppedBy } from "./run-result.ts";
import { loopNote, RunState } from "./run-state.ts";
import { texts } from "./texts.ts";
import { type BatchOutcome, ToolBatch } from "./tool-batch.ts";
import { abortedCall, failedCall, type SettledCall } from "./tool-result.ts";
import { Window } from "./window.ts";

const CONTINUATIONS = 2;
/** How often in a row a vendor may ask to be called again before it counts as cut. */
const PAUSES = 16;

/** What follows a model turn: another one, a rest unless there are more messages, or the end. */
type Next = { readonly go: "on" } | { readonly go: "rest" | "end"; readonly end: End };

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

/** One run over a conversation. */
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
    if (opening.origin === "input") await this.#commitSteering();

    for (;;) {
      let next: Next;
      let steered: boolean;
      do {
        next = await this.#modelTurn();
        if (next.go === "end") return next.end;
        steered = await this.#commitSteering();
      } while (steered || next.go === "on");

      if (this.#run.signal.aborted) return stoppedBy(this.#run.signal);
      const followUps = await this.#run.take("followUps");
      await this.#run.commitInput(followUps, "followUp");
      if (followUps.length === 0) return this.#run.signal.aborted ? stoppedBy(this.#run.signal) : next.end;
    }
  }

  /** Asks the model, keeps its turn, and runs the calls it asks for. */
  async #modelTurn(): Promise<Next> {
    const limit = this.#run.budget.reached();
    if (limit !== undefined) return endWith({ reason: "limit", limit });
    if (this.#run.signal.aborted) return endWith(stoppedBy(this.#run.signal));
    this.#run.turn++;
    this.#run.budget.beginTurn();
    await this.#run.emit({ type: "turn.start", turn: this.#run.turn });

    const answer = await this.#answer();
    if (answer === undefined) return endWith(stoppedBy(this.#run.signal));
    const message = this.#run.conversation.ids.own(answer);
    const calls = toolCalls(message);
    this.#run.budget.addTurn(message);
    this.#last = message;
    this.#snapshot.clear();
    // A turn that failed before it said anything is no part of the conversation.
    const empty = message.content.length === 0 && message.error !== undefined;
    if (!empty) await this.#run.commitTurn(message, calls);

    const batch = await new ToolBatch(this.#run, message, calls, this.#whyNotRun(message, calls)).run();
    await this.#run.add(batch.results, "tool");
    await this.#run.emit({ type: "turn.end", turn: this.#run.turn, message, results: batch.results });
    // Taken from the host's queue, so it has to be kept whatever follows.
    await this.#run.commitInput(batch.steering, "steer");
    return this.#after(message, batch, calls.length > 0);
  }

  /** The model's turn, asked for once more with a shorter request where the vendor had no room for the first. */
  async #answer(): Promise<AssistantMessage | undefined> {
    const system = await this.#systemPrompt();
    if (system === undefined || this.#run.signal.aborted) return undefined;
    await this.#window.makeRoom(system);
    const message = await this.#ask(system);
    if (message?.stopReason !== "context_overflow") return message;

    const isShorter = await this.#window.afterOverflow(system, message.error?.contextWindow);
    if (!isShorter || this.#run.signal.aborted) return message;
    this.#run.budget.addRequest(message);
    await this.#run.emit({ type: "model.discard", reason: "overflow", error: errorOf(message) });
    return this.#ask(system);
  }

  async #systemPrompt(): Promise<SystemPrompt | undefined> {
    const { signal, turn } = this.#run;
    return typeof this.#system === "function" ? untilStopped(this.#system(turn), signal) : this.#system;
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
    const spent = this.#run.budget.spent();
    if (stopReason === "aborted") return calls.map(abortedCall);
    if (stopReason === "tool_use" && spent === undefined) return undefined;
    let why = texts.notAsked(stopReason);
    if (stopReason === "max_tokens") why = texts.cut;
    else if (stopReason === "tool_use") why = texts.limit(spent ?? "");
    return calls.map(() => failedCall("skipped", why));
  }

  async #after(message: AssistantMessage, batch: BatchOutcome, called: boolean): Promise<Next> {
    const { end } = batch;
    if (end?.reason !== "waiting" && this.#run.signal.aborted) return endWith(stoppedBy(this.#run.signal));
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
        if (++this.#continuations > (this.#run.config.continuations ?? CONTINUATIONS))
          return restWith(rule.ends);
        // Results already say that the message was cut.
        if (!called) await this.#run.commitInput([loopNote(texts.continueCut, this.#run.now())], "loop");
        return GO_ON;
      case "fail":
        return endWith({ reason: "error", error: errorOf(message) });
    }
  }

  async #commitSteering(): Promise<boolean> {
    const steering = await this.#run.take("steering");
    await this.#run.commitInput(steering, "steer");
    return steering.length > 0;
  }

  abort(reason: unknown): void {
    this.#run.stop.abort(reason);
  }

  /** Summarises the older part now, outside a run. Resolves with whether there was something to gain. */
  async compact(): Promise<boolean> {
    try {
      return await this.#window.compactNow();
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
    const failure = asAgentError(error, "hook_failed");
    const { code, message } = failure;
    const { unkept } = this.#run;
    const result = { ...this.#result({ reason: "error" }), failure: { code, message, unkept } };
    await this.#run.emit({ type: "run.end", result });
    throw failure;
  }
}

const GO_ON: Next = { go: "on" };

function restWith(reason: EndReason): Next {
  return { go: "rest", end: { reason } };
}

function endWith(end: End): Next {
  return { go: "end", end };
}
