import type { Hooks } from "../hooks.ts";
import type { AgentMessage, Message, ToolResultMessage } from "../messages.ts";
import type { Conversation } from "./conversation.ts";
import { convertToLlm, memoizeByMessage } from "./convert.ts";
import { mayTurnFollow, repairHistory } from "./repair.ts";

const GO_ON = "(Go on.)";

/** The messages of a conversation as they are sent: without old turns, with pruned results, converted and repaired. */
export class RequestView {
  readonly #conversation: Conversation;
  readonly #convert: NonNullable<Hooks["convertToLlm"]>;
  readonly #historyTurns: number | undefined;
  /** Pruned results. They stay pruned to keep the start of the request stable. */
  readonly #pruned = new Map<AgentMessage, ToolResultMessage>();

  constructor(conversation: Conversation, convert?: Hooks["convertToLlm"], historyTurns?: number) {
    this.#conversation = conversation;
    this.#convert = convert === undefined ? convertToLlm : memoizeByMessage(convert);
    this.#historyTurns = historyTurns;
  }

  /** Number of messages at the start of the history that are not sent. */
  get hidden(): number {
    return findTurnStart(this.#conversation.messages, this.#historyTurns);
  }

  /** The messages of a request before conversion. */
  get messages(): AgentMessage[] {
    const sent = this.#conversation.messages.slice(this.hidden);
    return this.#pruned.size === 0 ? sent : sent.map((message) => this.getSent(message));
  }

  /** Returns the message as it is currently sent. */
  getSent(message: AgentMessage): AgentMessage {
    const next = this.#pruned.get(message);
    return next === undefined ? message : this.getSent(next);
  }

  /** Replaces results. The keys of `changes` are the currently sent messages. */
  prune(changes: ReadonlyMap<AgentMessage, ToolResultMessage>): void {
    for (const [sent, next] of changes) this.#pruned.set(sent, next);
  }

  /**
   * Returns the messages of a request, created from `messages` if a host changed them. Returns a new array each time.
   */
  request(messages: readonly AgentMessage[] = this.messages): readonly Message[] {
    const converted = messages.map(this.#convert).filter((made) => made !== undefined);
    const { messages: sent, changes } = repairHistory(converted);
    // A call must not get an id that the model has seen for another call.
    if (changes.length > 0) this.#conversation.ids.reserve(sent);
    const last = sent.at(-1);
    // A host may have removed the message that the model would answer.
    if (mayTurnFollow(last)) return sent;
    return [...sent, { role: "user", content: GO_ON, timestamp: last?.timestamp ?? 0 }];
  }
}

/**
 * Returns the index of the first message to send for a limit of `turns` user turns. Consecutive user messages count as
 * one turn. A quarter of the turns is dropped at a time, so that the start of the request, and with it the vendor's
 * prompt cache, stays the same for a while.
 */
export function findTurnStart(messages: readonly AgentMessage[], turns: number | undefined): number {
  if (turns === undefined) return 0;
  const starts: number[] = [];
  let inInput = false;
  for (let i = 0; i < messages.length; i++) {
    const role = messages[i]?.role;
    // A summary is not a turn. It is dropped together with the messages that follow it.
    const input = role !== "assistant" && role !== "toolResult" && role !== "compactionSummary";
    if (input && !inInput) starts.push(i);
    inInput = input;
  }
  const limit = Math.max(1, Math.floor(turns));
  if (starts.length <= limit) return 0;
  const step = Math.max(1, Math.floor(limit / 4));
  const dropped = Math.ceil((starts.length - limit) / step) * step;
  return starts[Math.min(dropped, starts.length - 1)] ?? 0;
}
