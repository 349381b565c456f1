import type { Hooks } from "../hooks.ts";
import type { AgentMessage, Message, ToolResultMessage } from "../messages.ts";
import type { Conversation } from "./conversation.ts";
import { convertToLlm, onceEach } from "./convert.ts";
import { asksForTurn, HistoryRepair } from "./repair.ts";

const GO_ON = "(Go on.)";

/** What a vendor sees of a conversation: without old turns, with pruned results, converted, and always valid. */
export class RequestView {
  readonly #conversation: Conversation;
  readonly #convert: NonNullable<Hooks["convertToLlm"]>;
  readonly #historyTurns: number | undefined;
  /** What stands for a pruned result. Pruning lasts, so that the start of the request stays the same. */
  readonly #pruned = new Map<AgentMessage, ToolResultMessage>();
  /** Each request mostly is the last one and something behind it. */
  readonly #repair = new HistoryRepair();

  constructor(conversation: Conversation, convert?: Hooks["convertToLlm"], historyTurns?: number) {
    this.#conversation = conversation;
    this.#convert = convert === undefined ? convertToLlm : onceEach(convert);
    this.#historyTurns = historyTurns;
  }

  /** How many messages at the start of the history are not sent. */
  get hidden(): number {
    return turnStart(this.#conversation.messages, this.#historyTurns);
  }

  /** Messages a request is made from, before conversion. */
  get messages(): AgentMessage[] {
    const sent = this.#conversation.messages.slice(this.hidden);
    return this.#pruned.size === 0 ? sent : sent.map((message) => this.prunedAs(message));
  }

  /** The message as it is sent now. */
  prunedAs(message: AgentMessage): AgentMessage {
    const next = this.#pruned.get(message);
    return next === undefined ? message : this.prunedAs(next);
  }

  /** Sends results as `changes` has them, whose keys are the results as they were sent so far. */
  prune(changes: ReadonlyMap<AgentMessage, ToolResultMessage>): void {
    for (const [sent, next] of changes) this.#pruned.set(sent, next);
  }

  /** What the vendor gets; made of `messages` where a host changed what is sent. A new array each time. */
  request(messages: readonly AgentMessage[] = this.messages): readonly Message[] {
    const converted = messages.map(this.#convert).filter((made) => made !== undefined);
    const { messages: sent, changes } = this.#repair.repair(Object.freeze(converted));
    // No call may get an id that the model was shown for another one.
    if (changes.length > 0) this.#conversation.ids.reserve(sent);
    const last = sent.at(-1);
    // A host may have left out, or lost, what there was to answer.
    if (asksForTurn(last)) return sent;
    return [...sent, { role: "user", content: GO_ON, timestamp: last?.timestamp ?? 0 }];
  }
}

/**
 * Index of the first message to send when at most `turns` user turns are (a run of user-side messages counts as one
 * turn). A quarter of the turns is dropped at once, so that the start of the request, and with it the vendor's
 * prompt cache, stays the same for a while.
 */
export function turnStart(messages: readonly AgentMessage[], turns: number | undefined): number {
  if (turns === undefined) return 0;
  const starts: number[] = [];
  let inInput = false;
  for (let i = 0; i < messages.length; i++) {
    const role = messages[i]?.role;
    // A summary is no turn; it goes when what follows it goes.
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
