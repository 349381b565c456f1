import type { Block, ToolCallBlock } from "../content.ts";
import type { AgentMessage, AssistantMessage, Message, ToolResultMessage, UserMessage } from "../messages.ts";
import { CallIds } from "./call-ids.ts";
import { cleanAssistant, cleanInput } from "./clean.ts";

/** One thing that was put right. `index` is the place in the messages given. */
export interface RepairChange {
  readonly kind: /** A call without a result got one that says so. */
    | "answered-call"
    /** A result without its call was dropped. */
    | "orphan-result"
    /** A second result of a call was dropped. */
    | "duplicate-result"
    /** Results were brought behind their calls, in the order of the calls. */
    | "reordered"
    /** A call id that came twice, or was empty, was replaced in the call and its result. */
    | "call-id"
    /** A turn with nothing a vendor would accept was dropped. */
    | "empty-turn"
    /** Blank text was taken out, or replaced where it was all there was. */
    | "blank-text"
    /** A user message was put where a vendor needs one: at the start, or between two model turns. */
    | "user-added";
  readonly index: number;
}

export interface Repaired<M extends AgentMessage> {
  /** The same array when nothing had to change. */
  readonly messages: readonly M[];
  readonly changes: readonly RepairChange[];
}

export interface RepairOptions {
  /** `keep` leaves the calls of the last turn without results as they are: a run will settle them. Default `answer`. */
  readonly pending?: "answer" | "keep";
}

const BEFORE_START = "(The conversation before this point is not available.)";
const BETWEEN_TURNS = "(no reply)";
const NO_RESULT = "No result of this call was recorded; whether it took effect is unknown.";

/**
 * Makes a conversation one that every vendor accepts, changing as little as possible. Pure and idempotent.
 *
 * Afterwards every tool call is followed by exactly one result, in the order of the calls and before anything else;
 * no result is without its call; call ids are unique; the first message is a user's; two model turns are never next
 * to each other (but after a `pause`); no message and no text is blank.
 */
export function repairConversation(messages: readonly Message[], options?: RepairOptions): Repaired<Message>;
export function repairConversation(
  messages: readonly AgentMessage[],
  options?: RepairOptions,
): Repaired<AgentMessage>;
export function repairConversation(
  messages: readonly AgentMessage[],
  options: RepairOptions = {},
): Repaired<AgentMessage> {
  const repair = new Repair(messages, options.pending === "keep");
  repair.run();
  return { messages: repair.changes.length === 0 ? messages : repair.out, changes: repair.changes };
}

class Repair {
  readonly out: AgentMessage[] = [];
  readonly changes: RepairChange[] = [];
  readonly #messages: readonly AgentMessage[];
  readonly #keepPending: boolean;
  readonly #ids = new CallIds();

  constructor(messages: readonly AgentMessage[], keepPending: boolean) {
    this.#messages = messages;
    this.#keepPending = keepPending;
  }

  run(): void {
    let at = 0;
    while (at < this.#messages.length) {
      const message = this.#messages[at];
      if (message === undefined) break;
      if (message.role === "assistant") {
        at = this.#turn(message, at);
      } else if (message.role === "toolResult") {
        this.#note("orphan-result", at);
        at++;
      } else {
        this.#pushInput(message, at);
        at++;
      }
    }
  }

  /** Puts one model turn and what belongs to it; returns where the next one may start. */
  #turn(message: AssistantMessage, at: number): number {
    const cleaned = cleanAssistant(message);
    let end = at + 1;
    let interposed = false;
    let results: Map<string, ToolResultMessage> | undefined;
    // Results count until the next model turn; a late one behind it can no longer be told from a stray.
    for (; end < this.#messages.length; end++) {
      const next = this.#messages[end];
      if (next === undefined || next.role === "assistant") break;
      if (next.role !== "toolResult") {
        interposed = true;
        continue;
      }
      results ??= new Map();
      if (results.has(next.toolCallId)) this.#note("duplicate-result", end);
      else results.set(next.toolCallId, next);
    }
    const calls = cleaned === undefined ? [] : toolCalls(cleaned);
    if (cleaned === undefined) {
      this.#note("empty-turn", at);
    } else {
      if (cleaned !== message) this.#note("blank-text", at);
      const open = this.#keepPending && end === this.#messages.length && !interposed;
      this.#pushTurn(cleaned, calls, results, at, open);
    }
    if (results !== undefined && results.size > 0) this.#note("orphan-result", at + 1);
    for (let i = at + 1; i < end; i++) {
      const other = this.#messages[i];
      if (other !== undefined && other.role !== "toolResult") this.#pushInput(other, i);
    }
    return end;
  }

  #pushTurn(
    turn: AssistantMessage,
    calls: readonly ToolCallBlock[],
    results: Map<string, ToolResultMessage> | undefined,
    at: number,
    open: boolean,
  ): void {
    const { out } = this;
    this.#needUser(at);
    if (calls.length === 0) {
      out.push(turn);
      return;
    }
    const renamed = this.#uniqueIds(calls, at);
    if (renamed !== undefined) out.push({ ...turn, content: rename(turn.content, renamed) });
    else out.push(turn);
    let place = at + 1;
    for (let i = 0; i < calls.length; i++) {
      const call = calls[i];
      if (call === undefined || renamed?.[i] === null) continue;
      const id = renamed?.[i] ?? call.id;
      const result = results?.get(call.id);
      if (result !== undefined) {
        results?.delete(call.id);
        if (this.#messages[place] !== result) this.#noteOnce("reordered", at);
        place++;
        out.push(result.toolCallId === id ? result : { ...result, toolCallId: id });
      } else if (!open) {
        this.#note("answered-call", at);
        out.push(missingResult({ ...call, id }, turn.timestamp));
      }
    }
  }

  /**
   * The ids to use in place of the calls' own, or `undefined` when they are fine. `null` drops the call: it is the
   * second of one id in one turn, so its result cannot be told from the first one's.
   */
  #uniqueIds(calls: readonly ToolCallBlock[], at: number): (string | null)[] | undefined {
    let ids: (string | null)[] | undefined;
    const own = new Set<string>();
    for (let i = 0; i < calls.length; i++) {
      const call = calls[i];
      if (call === undefined) continue;
      if (own.has(call.id)) {
        ids ??= calls.map((entry) => entry.id);
        ids[i] = null;
        this.#note("call-id", at);
        continue;
      }
      own.add(call.id);
      const id = this.#ids.take(call.id);
      if (id === call.id) continue;
      ids ??= calls.map((entry) => entry.id);
      ids[i] = id;
      this.#note("call-id", at);
    }
    return ids;
  }

  #needUser(at: number): void {
    const last = this.out.at(-1);
    if (last === undefined) {
      this.out.push(user(BEFORE_START, this.#messages[at]?.timestamp ?? 0));
      this.#note("user-added", at);
    } else if (last.role === "assistant" && last.stopReason !== "pause") {
      this.out.push(user(BETWEEN_TURNS, last.timestamp));
      this.#note("user-added", at);
    }
  }

  #pushInput(message: AgentMessage, at: number): void {
    const cleaned = cleanInput(message);
    if (cleaned !== message) this.#note("blank-text", at);
    this.out.push(cleaned);
  }

  #note(kind: RepairChange["kind"], index: number): void {
    this.changes.push({ kind, index });
  }

  #noteOnce(kind: RepairChange["kind"], index: number): void {
    const last = this.changes.at(-1);
    if (last?.kind !== kind || last.index !== index) this.#note(kind, index);
  }
}

const NO_CALLS: readonly ToolCallBlock[] = [];

/** The calls of a turn, in order. */
export function toolCalls(message: AgentMessage): readonly ToolCallBlock[] {
  if (message.role !== "assistant") return NO_CALLS;
  // Most turns have none, and every turn is looked at.
  let calls: ToolCallBlock[] | undefined;
  const { content } = message;
  for (let i = 0; i < content.length; i++) {
    const block = content[i];
    if (block?.type !== "toolCall") continue;
    calls ??= [];
    calls.push(block);
  }
  return calls ?? NO_CALLS;
}

function rename(content: readonly Block[], ids: readonly (string | null)[]): Block[] {
  let call = 0;
  const out: Block[] = [];
  for (const block of content) {
    if (block.type !== "toolCall") {
      out.push(block);
      continue;
    }
    const id = ids[call++];
    if (id === null) continue;
    out.push(id === undefined || id === block.id ? block : { ...block, id });
  }
  return out;
}

function missingResult(call: ToolCallBlock, timestamp: number): ToolResultMessage {
  return {
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    content: [{ type: "text", text: NO_RESULT }],
    isError: true,
    timestamp,
  };
}

function user(content: string, timestamp: number): UserMessage {
  return { role: "user", content, timestamp };
}
