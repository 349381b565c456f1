import { type InputBlock, withContent } from "../content.ts";
import type { AgentMessage, AssistantMessage, Message, ToolResultMessage } from "../messages.ts";
import { STOP_REASONS } from "../stop-reasons.ts";
import { cleanAssistant, cleanInput } from "./clean.ts";
import { CallIds, type ToWireId, toolCalls } from "./tool-calls.ts";

/** One repair. */
export interface RepairChange {
  readonly kind: /** A call without a result got one that says so. */
    | "answered-call"
    /** A call that broke off in the middle of its arguments and has no result was dropped. */
    | "dropped-call"
    /** A result without its call was dropped. */
    | "orphan-result"
    /** A second result of a call was dropped. */
    | "duplicate-result"
    /** Results were brought behind their calls, in the order of the calls. */
    | "reordered"
    /** A call id that came twice, or was empty, was replaced in the call and its result. */
    | "call-id"
    /** A result that named another tool than its call was given the name of the call. */
    | "tool-name"
    /** A turn with nothing a vendor would accept was dropped. */
    | "empty-turn"
    /** Blank text was taken out, or replaced where it was all there was. */
    | "blank-text"
    /** A user message was put where a vendor needs one: at the start, or between two model turns. */
    | "user-added";
  /** The place in the messages given. */
  readonly index: number;
  /** The id of the call it is about, where it is about one. */
  readonly callId?: string;
}

export interface RepairedHistory<M extends AgentMessage> {
  /** The same array when nothing had to change. */
  readonly messages: readonly M[];
  readonly changes: readonly RepairChange[];
}

const BEFORE_START = "(The conversation before this point is not available.)";
const BETWEEN_TURNS = "(no reply)";
const NO_RESULT: readonly InputBlock[] = [
  { type: "text", text: "No result of this call was recorded; whether it took effect is unknown." },
];

/**
 * Makes a history one that every vendor accepts, changing as little as possible. Pure and idempotent.
 *
 * Afterwards every tool call is followed by exactly one result, under its name, in the order of the calls and before
 * anything else; no result is without its call; call ids are unique; the first message is a user's; two model turns
 * are never next to each other (except after a `pause`); no message is blank, and no text but the space between two
 * texts of one turn. Where calls of one turn share an id, their results are taken in order.
 * @param toWireId turns a new call id into one that a wire format takes; different ids must stay different
 */
export function repairHistory<M extends AgentMessage>(
  messages: readonly M[],
  toWireId?: ToWireId,
): RepairedHistory<M | Message>;
export function repairHistory(
  messages: readonly AgentMessage[],
  toWireId?: ToWireId,
): RepairedHistory<AgentMessage> {
  if (sound.has(messages)) return { messages, changes: [] };
  return new HistoryRepair(toWireId).repair(messages);
}

/** Frozen histories with nothing to mend: a request goes through several hands, each of which would look again. */
const sound = new WeakSet<readonly AgentMessage[]>();

/** Whether a model's turn may follow this message: a user-side one, a result, or a turn that was only paused. */
export function asksForTurn(last: AgentMessage | undefined): boolean {
  if (last?.role !== "assistant") return last !== undefined;
  return STOP_REASONS[last.stopReason]?.next === "resume";
}

interface PlacedResult {
  readonly message: ToolResultMessage;
  readonly index: number;
}

/** By the id of their call. */
type PlacedResults = ReadonlyMap<string, PlacedResult[]>;

/** Repairs histories as `repairHistory` does; what was sound, and another one begins with, is not looked at again. */
export class HistoryRepair {
  readonly #toWireId: ToWireId | undefined;
  #ids: CallIds;
  #messages: readonly AgentMessage[] = [];
  #out: AgentMessage[] = [];
  #changes: RepairChange[] = [];

  constructor(toWireId?: ToWireId) {
    this.#toWireId = toWireId;
    this.#ids = new CallIds(toWireId);
  }

  repair<M extends AgentMessage>(messages: readonly M[]): RepairedHistory<M | Message>;
  repair(messages: readonly AgentMessage[]): RepairedHistory<AgentMessage> {
    const goesOn = this.#changes.length === 0 && this.#out.every((message, at) => message === messages[at]);
    if (!goesOn) {
      this.#ids = new CallIds(this.#toWireId);
      this.#out = [];
      this.#changes = [];
    }
    this.#messages = messages;
    let at = this.#out.length;
    for (let message = messages[at]; message !== undefined; message = messages[at]) {
      if (message.role === "assistant") at = this.#pushTurn(message, at);
      else this.#pushInput(message, at++);
    }
    const changes = this.#changes;
    if (changes.length > 0) return { messages: this.#out, changes };
    if (Object.isFrozen(messages)) sound.add(messages);
    return { messages, changes };
  }

  /**
   * Puts a turn and what belongs to it; gives where the next one may start. Results count until the next model turn; a
   * late one behind it can no longer be told from a stray.
   */
  #pushTurn(message: AssistantMessage, at: number): number {
    const placed: PlacedResult[] = [];
    let end = at + 1;
    for (let next = this.#messages[end]; next && next.role !== "assistant"; next = this.#messages[++end]) {
      if (next.role === "toolResult") placed.push({ message: next, index: end });
    }
    const results = Map.groupBy(placed, (result) => result.message.toolCallId);
    const whole = this.#withoutBrokenCalls(message, at, results);
    const cleaned = cleanAssistant(whole);
    if (cleaned === undefined) {
      this.#note("empty-turn", at);
    } else {
      if (cleaned !== whole) this.#note("blank-text", at);
      this.#needUser(at, cleaned);
      this.#pushPaired(cleaned, at, results);
    }
    const called = new Set(cleaned && toolCalls(cleaned).map(({ id }) => id));
    for (const { message, index } of [...results.values()].flat()) {
      const { toolCallId } = message;
      this.#note(called.has(toolCallId) ? "duplicate-result" : "orphan-result", index, toolCallId);
    }
    for (const [i, other] of this.#messages.slice(at + 1, end).entries()) {
      if (other.role !== "toolResult") this.#pushInput(other, at + 1 + i);
    }
    return end;
  }

  /** The model never finished saying a call that broke off; nobody can answer it, and no vendor takes its arguments. */
  #withoutBrokenCalls(message: AssistantMessage, at: number, results: PlacedResults): AssistantMessage {
    if (STOP_REASONS[message.stopReason]?.next === "tools") return message;
    const broken = toolCalls(message).filter((call) => call.args === undefined && !results.has(call.id));
    for (const call of broken) this.#note("dropped-call", at, call.id);
    const whole = message.content.filter((block) => block.type !== "toolCall" || !broken.includes(block));
    return withContent(message, whole);
  }

  /** The turn under ids of its own, and behind it one result for each of its calls. */
  #pushPaired(message: AssistantMessage, at: number, results: PlacedResults): void {
    const own = this.#ids.own(message);
    this.#out.push(own);
    const ids = toolCalls(own).map(({ id }) => id);
    let place = at + 1;
    let reordered = false;
    for (const [i, { id, name }] of toolCalls(message).entries()) {
      const call = { toolCallId: ids[i] ?? id, toolName: name };
      if (call.toolCallId !== id) this.#note("call-id", at, id);
      const result = results.get(id)?.shift();
      if (result === undefined) {
        const { timestamp } = message;
        this.#out.push({ role: "toolResult", ...call, content: NO_RESULT, isError: true, timestamp });
        this.#note("answered-call", at, id);
        continue;
      }
      if (result.index !== place++) reordered = true;
      const isNamed = result.message.toolName === name;
      if (!isNamed) this.#note("tool-name", result.index, id);
      const fits = isNamed && call.toolCallId === id;
      this.#out.push(fits ? result.message : { ...result.message, ...call });
    }
    if (reordered) this.#note("reordered", at);
  }

  #needUser(at: number, { timestamp }: AssistantMessage): void {
    const last = this.#out.at(-1);
    if (asksForTurn(last)) return;
    const content = last === undefined ? BEFORE_START : BETWEEN_TURNS;
    this.#out.push({ role: "user", content, timestamp: last?.timestamp ?? timestamp });
    this.#note("user-added", at);
  }

  #pushInput(message: AgentMessage, at: number): void {
    if (message.role === "toolResult") {
      this.#note("orphan-result", at, message.toolCallId);
      return;
    }
    const cleaned = cleanInput(message);
    if (cleaned !== message) this.#note("blank-text", at);
    this.#out.push(cleaned);
  }

  #note(kind: RepairChange["kind"], index: number, callId?: string): void {
    this.#changes.push(callId === undefined ? { kind, index } : { kind, index, callId });
  }
}
