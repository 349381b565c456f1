import type { AgentContext, AgentLoopConfig } from "../config.ts";
import { maxResultChars } from "../context/truncate.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { RequestView } from "../conversation/request-view.ts";
import { TokenCount } from "../conversation/token-count.ts";
import { AgentError } from "../errors.ts";
import type { Queued } from "../events.ts";
import type { AgentMessage } from "../messages.ts";
import { ToolSet } from "../tools/tool-set.ts";
import { Budget } from "./budget.ts";
import { race } from "./race.ts";
import { Repeats } from "./repeats.ts";
import { RunStop } from "./run-end.ts";

const GRACE_MS = 1_000;

/** What the parts of a run work with. None of them needs all of it; each says what it takes. */
export class RunState {
  /** The model turn that is going on; 1 is the first. */
  turn = 0;
  /** Every message of the run, in order. */
  readonly added: AgentMessage[] = [];
  readonly conversation: Conversation;
  readonly view: RequestView;
  readonly tokens: TokenCount;
  readonly tools: ToolSet;
  readonly config: AgentLoopConfig;
  readonly stop: RunStop;
  readonly signal: AbortSignal;
  readonly budget: Budget;
  readonly repeats: Repeats;
  readonly graceMs: number;
  /** Characters a tool's result may have. */
  readonly resultChars: number;
  readonly now: () => number;
  /** Messages that were taken from the host's queues and are not part of the history yet. */
  readonly #taken = { steering: new Set<AgentMessage>(), followUps: new Set<AgentMessage>() };

  /** @throws AgentError `invalid_tool` */
  constructor(conversation: Conversation, tools: AgentContext["tools"], config: AgentLoopConfig) {
    const { abortGraceMs, context = {}, convertToLlm, limits, model, now, repeat, signal } = config;
    this.tools = new ToolSet(tools);
    this.conversation = conversation;
    this.view = new RequestView(conversation, convertToLlm, context.historyTurns);
    this.tokens = new TokenCount(this.view.messages);
    this.config = config;
    this.stop = new RunStop(signal, limits?.wallMs);
    this.signal = this.stop.signal;
    this.budget = new Budget(limits);
    this.repeats = new Repeats(repeat);
    this.graceMs = abortGraceMs ?? GRACE_MS;
    this.resultChars = maxResultChars(model.contextWindow);
    this.now = now ?? Date.now;
  }

  /** What the run took from the host's queues and could not keep. */
  get unkept(): Queued {
    return { steering: [...this.#taken.steering], followUps: [...this.#taken.followUps] };
  }

  /** What has come in for a run that is under way, or is to be done once it would rest. */
  async take(queue: keyof Queued): Promise<readonly AgentMessage[]> {
    let messages = this.config[queue]?.() ?? [];
    if (messages instanceof Promise) {
      // A queue that has not answered by the end of the grace of a run that has to stop holds nothing.
      const given = await race(messages, this);
      messages = given.done ? given.value : [];
    }
    for (const message of messages) this.#taken[queue].add(message);
    return checkInput(messages);
  }

  /** Adds a message whose entry is kept. */
  add(message: AgentMessage): void {
    this.conversation.append(message);
    this.tokens.add(message);
    this.added.push(message);
    this.#taken.steering.delete(message);
    this.#taken.followUps.delete(message);
  }
}

/** @throws AgentError `invalid_input` */
export function checkInput(messages: readonly AgentMessage[]): readonly AgentMessage[] {
  const wrong = messages.find(({ role }) => role === "assistant" || role === "toolResult");
  if (wrong === undefined) return messages;
  const what = `A message of role "${wrong.role}" belongs into the history, not into the input.`;
  throw new AgentError("invalid_input", what);
}
