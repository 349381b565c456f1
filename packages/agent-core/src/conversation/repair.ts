import { type InputBlock, withContent } from "../content.ts";
import type { AgentMessage, AssistantMessage, Message, ToolResultMessage } from "../messages.ts";
import { STOP_REASONS } from "../stop-reasons.ts";
import { cleanAssistant, cleanInput } from "./clean.ts";
import { CallIds, getToolCalls, type ToWireId } from "./tool-calls.ts";

/** A change made by `repairHistory`. */
export interface RepairChange {
  readonly kind: /** A call without a result got one that says so. */
    | "answered_call"
    /** An incomplete call without a result was dropped. */
    | "dropped_call"
    /** A result without its call was dropped. */
    | "orphan_result"
    /** A second result for a call was dropped. */
    | "duplicate_result"
    /** Results were moved after their calls, in the order of the calls. */
    | "reordered"
    /** A duplicate or empty call id was replaced in the call and its result. */
    | "call_id"
    /** The tool name of a result was replaced with that of its call. */
    | "tool_name"
    /** A turn without content that vendors accept was dropped. */
    | "empty_turn"
    /** Blank text was removed, or replaced if there was no other text. */
    | "blank_text"
    /** A required user message was inserted at the start or between two model turns. */
    | "user_added";
  /** Index in the original messages. */
  readonly index: number;
  /** Id of the call, if the change concerns one. */
  readonly callId?: string;
}

export interface RepairedHistory<M extends AgentMessage> {
  /** The same array if nothing changed. */
  readonly messages: readonly M[];
  readonly changes: readonly RepairChange[];
}

const BEFORE_START = "(The conversation before this point is not available.)";
const BETWEEN_TURNS = "(no reply)";
const NO_RESULT: readonly InputBlock[] = [
  { type: "text", text: "No result of this call was recorded; whether it took effect is unknown." },
];

/**
 * Repairs a history with as few changes as possible, so that every vendor accepts it. Pure and idempotent.
 *
 * In the repaired history, every tool call is followed by exactly one result, under its name, in the order of the calls
 * and before anything else. Every result has a call, and call ids are unique. The first message is from the user, and
 * there are never two model turns in a row (except after a `pause`). No message is blank, and no text is blank except
 * the space between two texts of a turn. If calls of a turn share an id, their results are assigned in order.
 *
 * @param toWireId converts a new call id for a wire format; different ids must stay different
 */
export function repairHistory<M extends AgentMessage>(
  messages: readonly M[],
  toWireId?: ToWireId,
): RepairedHistory<M | Message>;
export function repairHistory(
  messages: readonly AgentMessage[],
  toWireId?: ToWireId,
): RepairedHistory<AgentMessage> {
  return new HistoryRepair(messages, toWireId).repair();
}

/** Returns true if a model turn may follow this message, which must be a user message, a result, or a paused turn. */
export function mayTurnFollow(last: AgentMessage | undefined): boolean {
  if (last?.role !== "assistant") return last !== undefined;
  return STOP_REASONS[last.stopReason]?.next === "resume";
}

interface PlacedResult {
  readonly message: ToolResultMessage;
  readonly index: number;
}

/** By call id. */
type PlacedResults = ReadonlyMap<string, PlacedResult[]>;

class HistoryRepair {
  readonly #messages: readonly AgentMessage[];
  readonly #ids: CallIds;
  readonly #out: AgentMessage[] = [];
  readonly #changes: RepairChange[] = [];

  constructor(messages: readonly AgentMessage[], toWireId?: ToWireId) {
    this.#messages = messages;
    this.#ids = new CallIds(toWireId);
  }

  repair(): RepairedHistory<AgentMessage> {
    let at = 0;
    for (let message = this.#messages[at]; message !== undefined; message = this.#messages[at]) {
      if (message.role === "assistant") at = this.#pushTurn(message, at);
      else this.#pushInput(message, at++);
    }
    const changes = this.#changes;
    return { messages: changes.length === 0 ? this.#messages : this.#out, changes };
  }

  /**
   * Appends a turn with its results. Returns the index of the next turn. Only results before the next model turn are
   * used, because later ones could belong to another call.
   */
  #pushTurn(message: AssistantMessage, at: number): number {
    const placed: PlacedResult[] = [];
    let end = at + 1;
    for (let next = this.#messages[end]; next && next.role !== "assistant"; next = this.#messages[++end]) {
      if (next.role === "toolResult") placed.push({ message: next, index: end });
    }
    const results = Map.groupBy(placed, (result) => result.message.toolCallId);
    const whole = this.#dropIncompleteCalls(message, at, results);
    const cleaned = cleanAssistant(whole);
    if (cleaned === undefined) {
      this.#note("empty_turn", at);
    } else {
      if (cleaned !== whole) this.#note("blank_text", at);
      this.#needUser(at, cleaned);
      this.#pushPaired(cleaned, at, results);
    }
    const called = new Set(cleaned && getToolCalls(cleaned).map(({ id }) => id));
    for (const { message, index } of [...results.values()].flat()) {
      const { toolCallId } = message;
      this.#note(called.has(toolCallId) ? "duplicate_result" : "orphan_result", index, toolCallId);
    }
    for (const [i, other] of this.#messages.slice(at + 1, end).entries()) {
      if (other.role !== "toolResult") this.#pushInput(other, at + 1 + i);
    }
    return end;
  }

  /** Drops incomplete calls without a result, because every vendor rejects them. */
  #dropIncompleteCalls(message: AssistantMessage, at: number, results: PlacedResults): AssistantMessage {
    if (STOP_REASONS[message.stopReason]?.next === "tools") return message;
    const broken = getToolCalls(message).filter((call) => call.args === undefined && !results.has(call.id));
    for (const call of broken) this.#note("dropped_call", at, call.id);
    const whole = message.content.filter((block) => block.type !== "toolCall" || !broken.includes(block));
    return withContent(message, whole);
  }

  /** Appends the turn with unique call ids, followed by one result for each call. */
  #pushPaired(message: AssistantMessage, at: number, results: PlacedResults): void {
    const own = this.#ids.own(message);
    this.#out.push(own);
    const ids = getToolCalls(own).map(({ id }) => id);
    let place = at + 1;
    let reordered = false;
    for (const [i, { id, name }] of getToolCalls(message).entries()) {
      const call = { toolCallId: ids[i] ?? id, toolName: name };
      if (call.toolCallId !== id) this.#note("call_id", at, id);
      const result = results.get(id)?.shift();
      if (result === undefined) {
        const { timestamp } = message;
        this.#out.push({ role: "toolResult", ...call, content: NO_RESULT, isError: true, timestamp });
        this.#note("answered_call", at, id);
        continue;
      }
      if (result.index !== place++) reordered = true;
      const isNamed = result.message.toolName === name;
      if (!isNamed) this.#note("tool_name", result.index, id);
      const fits = isNamed && call.toolCallId === id;
      this.#out.push(fits ? result.message : { ...result.message, ...call });
    }
    if (reordered) this.#note("reordered", at);
  }

  #needUser(at: number, { timestamp }: AssistantMessage): void {
    const last = this.#out.at(-1);
    if (mayTurnFollow(last)) return;
    const content = last === undefined ? BEFORE_START : BETWEEN_TURNS;
    this.#out.push({ role: "user", content, timestamp: last?.timestamp ?? timestamp });
    this.#note("user_added", at);
  }

  #pushInput(message: AgentMessage, at: number): void {
    if (message.role === "toolResult") {
      this.#note("orphan_result", at, message.toolCallId);
      return;
    }
    const cleaned = cleanInput(message);
    if (cleaned !== message) this.#note("blank_text", at);
    this.#out.push(cleaned);
  }

  #note(kind: RepairChange["kind"], index: number, callId?: string): void {
    this.#changes.push({ kind, index, callId });
  }
}
