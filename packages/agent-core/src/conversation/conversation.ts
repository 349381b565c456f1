import type { ConvertToLlm } from "../hooks.ts";
import type { AgentMessage, AssistantMessage, Message, ToolResultMessage } from "../messages.ts";
import { turnStart } from "../overflow/history-turns.ts";
import { estimateTokens, mostTokens, OVERHEAD } from "../tokens.ts";
import { count } from "../usage.ts";
import { CallIds } from "./call-ids.ts";
import { cleanAssistant, cleanInput } from "./clean.ts";
import { convertToLlm } from "./convert.ts";
import { repairHistory, toolCalls } from "./repair.ts";

const GO_ON = "(Go on.)";

/**
 * The history of a run, and what a vendor sees of it. The history is what the host knows, message for message; the
 * vendor's view is converted and repaired, and is kept up to date message by message, so that a turn costs the same
 * in a long conversation as in a short one.
 */
export class Conversation {
  readonly messages: readonly AgentMessage[];
  /** The same array, for what changes it. */
  private readonly kept: AgentMessage[];
  /** What a pruned result looks like now. Pruning is kept for the rest of the conversation, so the prefix is stable. */
  private pruned: Map<AgentMessage, ToolResultMessage> | undefined;
  private converted: WeakMap<AgentMessage, Message> | undefined;
  private ids: CallIds | undefined;
  private convert: ConvertToLlm;
  private historyTurns: number | undefined;
  private llm: Message[] = [];
  private stale: boolean;
  /** Messages up to here are in the view and counted. What comes behind the last request is looked at by the next. */
  private seen: number;
  /** Tokens of the messages up to the vendor's last report; `undefined` before the first. */
  private reported: number | undefined;
  /** Tokens by guess of the messages since, up to `guessed`; of those behind it only the most they can cost is known. */
  private tail = 0;
  private guessed = 0;
  private most = 0;

  constructor(history: readonly AgentMessage[]) {
    // An empty copy of an array that never held anything takes objects only after V8 has changed its kind, each time.
    this.kept = history.length === 0 ? [] : history.slice();
    this.messages = this.kept;
    this.seen = history.length;
    this.stale = history.length > 0;
    this.convert = convertToLlm;
    if (history.length > 0) this.recount();
  }

  /** Sets what the view depends on; a change makes it anew. */
  configure(convert: ConvertToLlm | undefined, historyTurns: number | undefined): void {
    const next = convert ?? convertToLlm;
    if (next === this.convert && historyTurns === this.historyTurns) return;
    this.convert = next;
    this.historyTurns = historyTurns;
    this.converted = undefined;
    this.stale = true;
  }

  append(message: AgentMessage): void {
    this.kept.push(message);
  }

  private catchUp(): void {
    const messages = this.messages;
    while (this.seen < messages.length) {
      const message = messages[this.seen++];
      if (message === undefined) continue;
      const asIs = !this.stale && this.convert === convertToLlm && this.historyTurns === undefined;
      if (
        asIs &&
        message.role === "user" &&
        typeof message.content === "string" &&
        message.content.trim() !== ""
      ) {
        // As `count` and `extend` would have it. Nearly every run begins so, and many end before what begins them is
        // compiled.
        this.most += message.content.length + OVERHEAD;
        this.llm.push(message);
      } else {
        this.count(message);
        if (!this.stale) this.extend(message);
      }
    }
  }

  /** Puts the results of the last turn, which came in as they finished, in the order of its calls. */
  sortLastResults(): void {
    const messages = this.kept;
    let first = messages.length;
    while (first > 0 && messages[first - 1]?.role === "toolResult") first--;
    const turn = messages[first - 1];
    if (turn === undefined) return;
    const order = new Map(toolCalls(turn).map((call, index) => [call.id, index]));
    const place = (message: AgentMessage): number =>
      (message.role === "toolResult" ? order.get(message.toolCallId) : undefined) ?? order.size;
    messages.push(...messages.splice(first).sort((a, b) => place(a) - place(b)));
    this.stale = true;
  }

  /** The same turn, its call ids made unique in this conversation. For turns that have calls. */
  withOwnIds(message: AssistantMessage): AssistantMessage {
    // Ids that were made unique for the vendor are taken too.
    this.ids ??= idsOf([...this.messages, ...this.llm]);
    const ids = this.ids;
    let renamed = false;
    const content = message.content.map((block) => {
      if (block.type !== "toolCall") return block;
      const id = ids.take(block.id);
      if (id === block.id) return block;
      renamed = true;
      return { ...block, id };
    });
    return renamed ? { ...message, content } : message;
  }

  /** Messages a request is made from, before conversion: without what the turn limit drops, with results as pruned. */
  view(): AgentMessage[] {
    const start = turnStart(this.messages, this.historyTurns);
    const view: AgentMessage[] = [];
    for (let i = start; i < this.messages.length; i++) {
      const message = this.messages[i];
      if (message !== undefined) view.push(this.prunedAs(message) ?? message);
    }
    return view;
  }

  /** How many messages at the start of the history `view` leaves out. */
  hidden(): number {
    return turnStart(this.messages, this.historyTurns);
  }

  /** What the vendor gets. A new array each time: a stream may hold on to it. */
  request(): readonly Message[] {
    if (this.stale || this.seen < this.messages.length) this.update();
    const request = this.llm.slice();
    const last = request[request.length - 1];
    return last !== undefined && last.role !== "assistant" ? request : asking(request);
  }

  /** A request made from any messages. Where they are those of the view but for what people say, that costs little. */
  requestOf(messages: readonly AgentMessage[]): readonly Message[] {
    return asking(this.resaid(messages) ?? this.valid(messages));
  }

  private update(): void {
    this.catchUp();
    if (!this.stale) return;
    this.llm = this.valid(this.view());
    this.stale = false;
    // Making it anew may have made up ids, which are taken from now on.
    if (this.ids !== undefined) addIds(this.ids, this.llm);
  }

  /**
   * The vendor's view with what people say as `messages` have it; `undefined` where they differ in more than that.
   * What is between the people's messages stays valid, whatever they say. Not with a host's own conversion: it may not
   * take what `messages` leave out.
   */
  private resaid(messages: readonly AgentMessage[]): Message[] | undefined {
    if (this.convert !== convertToLlm || messages.length !== this.messages.length - this.hidden())
      return undefined;
    this.update();
    const llm = this.llm;
    if (messages.length !== llm.length) return undefined;
    const request = llm.slice();
    for (let i = 0; i < llm.length; i++) {
      const given = messages[i];
      const own = llm[i];
      if (given === own || given === undefined || own === undefined) continue;
      const converted = this.toLlm(given);
      if (converted === own) continue;
      if (converted?.role !== "user" || own.role !== "user") return undefined;
      const cleaned = cleanInput(converted);
      if (cleaned.role !== "user") return undefined;
      request[i] = cleaned;
    }
    return request;
  }

  private valid(messages: readonly AgentMessage[]): Message[] {
    const converted: Message[] = [];
    for (const message of messages) {
      const own = this.toLlm(message);
      if (own !== undefined) converted.push(own);
    }
    return [...repairHistory(converted).messages];
  }

  /** What a message is shown as, where it was pruned. */
  prunedAs(message: AgentMessage): ToolResultMessage | undefined {
    return this.pruned?.get(message);
  }

  /** Shows results as `changes` has them, whose keys are the results as they were shown so far. */
  prune(changes: ReadonlyMap<AgentMessage, ToolResultMessage>, tokensSaved: number): void {
    this.catchUp();
    this.pruned ??= new Map();
    for (const message of this.messages) {
      const next = changes.get(this.prunedAs(message) ?? message);
      if (next !== undefined) this.pruned.set(message, next);
    }
    this.guess();
    if (this.reported !== undefined) this.reported = Math.max(0, this.reported - tokensSaved);
    else this.tail = Math.max(0, this.tail - tokensSaved);
    this.stale = true;
  }

  /** Puts `summary` in the place of the first `count` messages. */
  compact(summary: AgentMessage, count: number): void {
    // A call keeps its id to itself for the run, also once it is summarised.
    this.ids ??= idsOf([...this.messages, ...this.llm]);
    for (const message of this.kept.splice(0, count, summary)) this.pruned?.delete(message);
    this.reported = undefined;
    this.tail = estimateTokens(this.view());
    this.seen = this.messages.length;
    this.guessed = this.seen;
    this.most = 0;
    this.stale = true;
  }

  /** Whether a vendor has counted the conversation, and with it what precedes the messages. */
  get isCounted(): boolean {
    this.catchUp();
    return this.reported !== undefined;
  }

  /** Tokens of the next request, about: the vendor's own last count where there is one, and a guess at the rest. */
  tokens(prefix: number): number {
    this.catchUp();
    this.guess();
    return (this.reported ?? prefix) + this.tail;
  }

  /** No more than this many; cheaper than `tokens`, which most turns need not know. */
  mostTokens(prefix: number): number {
    if (this.seen < this.messages.length) this.catchUp();
    return (this.reported ?? prefix) + this.tail + this.most;
  }

  private toLlm(message: AgentMessage): Message | undefined {
    const { role } = message;
    // The built-in conversion makes nothing new of these, so there is nothing to remember.
    if (this.convert === convertToLlm && (role === "user" || role === "assistant" || role === "toolResult")) {
      return message;
    }
    this.converted ??= new WeakMap();
    let converted = this.converted.get(message);
    if (converted === undefined) {
      converted = this.convert(message);
      if (converted !== undefined) this.converted.set(message, converted);
    }
    return converted;
  }

  /** Adds one message to the vendor's view, or leaves it to be made anew where more than that is needed. */
  private extend(message: AgentMessage): void {
    const converted = this.toLlm(message);
    const last = this.llm.at(-1);
    let fits = converted === message || (converted !== undefined && isSameTurn(converted, message));
    let own: Message | undefined = converted;
    if (converted?.role === "assistant") {
      own = cleanAssistant(converted);
      fits &&= own !== undefined && last !== undefined && last.role !== "assistant";
    } else if (converted?.role === "user") {
      const cleaned = cleanInput(converted);
      own = cleaned.role === "user" ? cleaned : undefined;
      // A turn limit counts these.
      fits &&= this.historyTurns === undefined;
    }
    if (fits && own !== undefined) this.llm.push(own);
    else this.stale = true;
  }

  private count(message: AgentMessage): void {
    const input = message.role === "assistant" ? count(message.usage?.input?.total) : undefined;
    if (message.role === "assistant" && input !== undefined) {
      this.report(input + (count(message.usage?.output?.total) ?? estimateTokens(message)));
    } else {
      this.most += mostTokens(message);
    }
  }

  private report(tokens: number): void {
    this.reported = tokens;
    this.tail = 0;
    this.guessed = this.seen;
    this.most = 0;
  }

  /** Guesses at the messages that have not been looked at yet. */
  private guess(): void {
    for (; this.guessed < this.messages.length; this.guessed++) {
      const message = this.messages[this.guessed];
      if (message !== undefined) this.tail += estimateTokens(message);
    }
    this.most = 0;
  }

  /** Starts from the last count a vendor gave, unless a summary has come since. */
  private recount(): void {
    const messages = this.messages;
    let compacted = Number.NEGATIVE_INFINITY;
    for (const message of messages) {
      if (message.role === "compactionSummary") compacted = Math.max(compacted, message.timestamp);
    }
    const counted = messages.findLastIndex(
      (message) =>
        message.role === "assistant" &&
        message.timestamp >= compacted &&
        count(message.usage?.input?.total) !== undefined,
    );
    const last = messages[counted];
    if (last !== undefined) this.count(last);
    this.guessed = counted + 1;
    for (let i = this.guessed; i < messages.length; i++) {
      const message = messages[i];
      if (message !== undefined) this.most += mostTokens(message);
    }
  }
}

/** Whether a host's own conversion left a message where it stands in the order of calls and results. */
function isSameTurn(converted: Message, message: AgentMessage): boolean {
  if (message.role === "toolResult")
    return converted.role === "toolResult" && converted.toolCallId === message.toolCallId;
  if (message.role !== "assistant") return converted.role === "user";
  if (converted.role !== "assistant") return false;
  const calls = toolCalls(message);
  const left = toolCalls(converted);
  return left.length === calls.length && left.every((call, index) => call.id === calls[index]?.id);
}

/** A request ends with something to answer. A host may have left out, or lost, what was. */
function asking(messages: Message[]): readonly Message[] {
  const last = messages.at(-1);
  if (last === undefined || (last.role === "assistant" && last.stopReason !== "pause")) {
    messages.push({ role: "user", content: GO_ON, timestamp: last?.timestamp ?? 0 });
  }
  return messages;
}

function idsOf(messages: readonly AgentMessage[]): CallIds {
  const ids = new CallIds();
  addIds(ids, messages);
  return ids;
}

function addIds(ids: CallIds, messages: readonly AgentMessage[]): void {
  for (const message of messages) for (const call of toolCalls(message)) ids.add(call.id);
}
