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
import type { Budget } from "./budget.ts";
import { askModel } from "./model-turn.ts";
import { type Opening, openingOf, settleOpenCalls } from "./opening.ts";
import { untilStopped } from "./race.ts";
import type { RunLog } from "./run-log.ts";
import { type End, errorOf, resultOf, stoppedBy } from "./run-result.ts";
import { loopNote, type RunSetup, setUpRun } from "./run-setup.ts";
import type { RunStop } from "./run-stop.ts";
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
  readonly #setup: RunSetup;
  readonly #log: RunLog;
  readonly #stop: RunStop;
  readonly #budget: Budget;
  readonly #window: Window;
  /** Where in the history the run's own messages begin. */
  #runStart: number;
  #last: AssistantMessage | undefined;
  #continuations = 0;
  #pauses = 0;

  /** @throws AgentError `invalid_tool` */
  constructor(
    conversation: Conversation,
    context: Pick<AgentContext, "system" | "tools">,
    config: AgentLoopConfig,
    emit: EmitEvent,
    snapshot: Snapshot = new Snapshot(),
  ) {
    this.#setup = setUpRun(conversation, context, config, emit, snapshot);
    this.#log = this.#setup.log;
    this.#stop = this.#setup.stop;
    this.#budget = this.#setup.budget;
    this.#window = new Window(this.#setup);
    this.#runStart = conversation.messages.length;
  }

  /** @throws AgentError for wrong input, nothing to do, or a failed hook */
  async run(input: readonly AgentMessage[]): Promise<RunResult> {
    try {
      const opening = await openingOf(this.#setup, input);
      await this.#log.emit({ type: "run.start" });
      const end = await this.#runFrom(opening).catch((error: unknown) => this.#fail(error));
      this.#stop.dispose();
      const result = this.#result(end);
      await this.#log.emit({ type: "run.end", result });
      return result;
    } finally {
      this.#stop.dispose();
    }
  }

  /** The double loop: outside over follow-ups, inside over model turns, their tool calls and steering. */
  async #runFrom(opening: Opening): Promise<End> {
    const ended = await settleOpenCalls(this.#setup, opening.messages.length > 0);
    await this.#log.commitInput(opening.messages, opening.origin);
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

      if (this.#stop.cause !== undefined) return stoppedBy(this.#stop.cause);
      const followUps = await this.#setup.takeFollowUps();
      await this.#log.commitInput(followUps, "followUp");
      if (followUps.length === 0)
        return this.#stop.cause === undefined ? next.end : stoppedBy(this.#stop.cause);
    }
  }

  /** Asks the model, keeps its turn, and runs the calls it asks for. */
  async #modelTurn(): Promise<Next> {
    const limit = this.#budget.reached();
    if (limit !== undefined) return endWith({ reason: "limit", limit });
    if (this.#stop.cause !== undefined) return endWith(stoppedBy(this.#stop.cause));
    this.#log.turn++;
    this.#budget.beginTurn();
    await this.#log.emit({ type: "turn.start", turn: this.#log.turn });

    const answer = await this.#answer();
    if (answer === undefined) return endWith(stoppedBy(this.#stop.cause));
    const message = this.#setup.conversation.withOwnIds(answer);
    const calls = toolCalls(message);
    this.#budget.addTurn(message);
    this.#last = message;
    this.#setup.snapshot.clear();
    // A turn that failed before it said anything is no part of the conversation.
    const empty = message.content.length === 0 && message.error !== undefined;
    if (!empty) await this.#log.commitTurn(message, calls);

    const batch = await new ToolBatch(this.#setup, message, calls, this.#whyNotRun(message, calls)).run();
    await this.#log.add(batch.results, "tool");
    await this.#log.emit({ type: "turn.end", turn: this.#log.turn, message, results: batch.results });
    // Taken from the host's queue, so it has to be kept whatever follows.
    await this.#log.commitInput(batch.steering, "steer");
    return this.#after(message, batch, calls.length > 0);
  }

  /** The model's turn, asked for once more with a shorter request where the vendor had no room for the first. */
  async #answer(): Promise<AssistantMessage | undefined> {
    const system = await this.#systemPrompt();
    if (system === undefined) return undefined;
    this.#shiftStart(await this.#log.follow(this.#window.makeRoom(system)));
    const message = await this.#ask(system);
    if (message?.stopReason !== "context_overflow") return message;

    const makingRoom = this.#window.afterOverflow(system, message.error?.contextWindow);
    const replaced = await this.#log.follow(makingRoom);
    if (replaced === undefined || this.#stop.cause !== undefined) return message;
    this.#budget.addRequest(message);
    this.#shiftStart(replaced);
    await this.#log.emit({ type: "model.discard", reason: "overflow", error: errorOf(message) });
    return this.#ask(system);
  }

  async #systemPrompt(): Promise<SystemPrompt | undefined> {
    const { system, signal } = this.#setup;
    if (typeof system !== "function") return this.#stop.cause === undefined ? system : undefined;
    return untilStopped(system(this.#log.turn), signal);
  }

  /** One request to the model; `undefined` where the run has to stop first. */
  async #ask(system: SystemPrompt): Promise<AssistantMessage | undefined> {
    const messages = this.#stop.cause === undefined ? await this.#messages() : undefined;
    if (messages === undefined || this.#stop.cause !== undefined) return undefined;
    const { config, tools, signal, graceMs, snapshot, now } = this.#setup;
    const { model, stream, streamOptions } = config;
    const context = { system, messages, tools: tools.specs };
    const options = this.#budget.limited({ ...streamOptions, signal }, model);
    const turn = await askModel({ model, stream, context, options, graceMs, snapshot, now }, this.#log.emit);
    this.#budget.addUsage(turn.spentBefore);
    return turn.message;
  }

  /** What is sent, as the host would have it. */
  async #messages(): Promise<readonly Message[] | undefined> {
    const { config, view, signal } = this.#setup;
    if (config.transformContext === undefined) return view.request();
    const runStart = Math.max(0, this.#runStart - view.hidden);
    const given = config.transformContext(view.messages, { turn: this.#log.turn, runStart, signal });
    const changed = await untilStopped(given, signal);
    return this.#stop.cause === undefined ? view.request(changed) : undefined;
  }

  /** Calls run where the turn ended to have them run, and as long as they may; otherwise each gets an answer. */
  #whyNotRun({ stopReason }: AssistantMessage, calls: readonly ToolCallBlock[]): SettledCall[] | undefined {
    const spent = this.#budget.spent();
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
    if (this.#stop.cause !== undefined) return endWith(stoppedBy(this.#stop.cause));
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
        if (++this.#continuations > (this.#setup.config.continuations ?? CONTINUATIONS))
          return restWith(rule.ends);
        // Results already say that the message was cut.
        if (!called) await this.#log.commitInput([loopNote(texts.continueCut, this.#setup.now())], "loop");
        return GO_ON;
      case "fail":
        return endWith({ reason: "error", error: errorOf(message) });
    }
  }

  async #commitSteering(): Promise<boolean> {
    const steering = await this.#setup.takeSteering();
    await this.#log.commitInput(steering, "steer");
    return steering.length > 0;
  }

  abort(reason: unknown): void {
    this.#stop.abort(reason);
  }

  /** Summarises the older part now, outside a run. Resolves with whether there was something to gain. */
  async compact(): Promise<boolean> {
    try {
      return (await this.#log.follow(this.#window.compactNow())) > 0;
    } finally {
      this.#stop.dispose();
    }
  }

  #result(end: End): RunResult {
    return resultOf(end, this.#log.added, this.#last, this.#budget.used);
  }

  /** What a run that cannot go on rejects with; told first. */
  async #fail(error: unknown): Promise<never> {
    const failure = asAgentError(error, "hook_failed");
    const { code, message } = failure;
    const { unkept } = this.#log;
    const result = { ...this.#result({ reason: "error" }), failure: { code, message, unkept } };
    await this.#log.emit({ type: "run.end", result });
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
