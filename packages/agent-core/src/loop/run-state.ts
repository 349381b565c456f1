import type { AgentContext, AgentLoopConfig } from "../config.ts";
import { getMaxResultChars } from "../context/truncate.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { RequestView } from "../conversation/request-view.ts";
import { TokenCount } from "../conversation/token-count.ts";
import { AgentError } from "../errors.ts";
import type { QueuedMessages } from "../events.ts";
import type { AgentMessage } from "../messages.ts";
import { ToolSet } from "../tools/tool-set.ts";
import { Budget } from "./budget.ts";
import { race } from "./race.ts";
import { Repeats } from "./repeats.ts";
import { RunStop } from "./run-end.ts";

const GRACE_MS = 1_000;

/** State shared by the parts of a run. Each part declares the fields it uses. */
export class RunState {
  /** The current model turn; 1 is the first. */
  turn = 0;
  /** All messages of the run, in order. */
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
  /** Maximum length of a tool result in characters. */
  readonly resultChars: number;
  readonly now: () => number;
  /** Messages that were taken from the host's queues but are not recorded yet. */
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
    this.resultChars = getMaxResultChars(model.contextWindow);
    this.now = now ?? Date.now;
  }

  /** Messages from the host's queues that could not be recorded. */
  get unsaved(): QueuedMessages {
    return { steering: [...this.#taken.steering], followUps: [...this.#taken.followUps] };
  }

  /** Takes messages from a queue of the host. */
  async take(queue: keyof QueuedMessages): Promise<readonly AgentMessage[]> {
    let messages = this.config[queue]?.() ?? [];
    if (messages instanceof Promise) {
      // If the run is aborted and a queue does not respond within the grace period, treat it as empty.
      const given = await race(messages, this);
      messages = given.done ? given.value : [];
    }
    for (const message of messages) this.#taken[queue].add(message);
    return checkInput(messages);
  }

  /** Adds a recorded message. */
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
  const what = `A message of role "${wrong.role}" belongs in the history, not in the input.`;
  throw new AgentError("invalid_input", what);
}
