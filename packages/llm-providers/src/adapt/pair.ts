import type { AssistantMessage, Message, ToolCallBlock, ToolResultMessage } from "@signalbox/agent-core";
import type { Loss } from "./index.ts";

const INTERRUPTED = "No result: the run was interrupted before this tool finished.";
const CUT = "(the earlier part of this conversation was left out)";

function madeUp(call: ToolCallBlock, timestamp: number): ToolResultMessage {
  return {
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    content: [{ type: "text", text: INTERRUPTED }],
    isError: true,
    timestamp,
  };
}

/** Made-up results are found again too, so that a history keeps its identity from turn to turn. */
const made = new WeakMap<ToolCallBlock, ToolResultMessage>();
const trimmed = new WeakMap<AssistantMessage, AssistantMessage>();

function resultFor(call: ToolCallBlock, timestamp: number): ToolResultMessage {
  const known = made.get(call);
  if (known !== undefined) return known;
  const result = madeUp(call, timestamp);
  made.set(call, result);
  return result;
}

function callsOf(message: AssistantMessage): ToolCallBlock[] {
  const calls: ToolCallBlock[] = [];
  for (const block of message.content) if (block.type === "toolCall") calls.push(block);
  return calls;
}

/**
 * Puts each call's one result right after its turn, in the order of the calls and under the call's name. A half-received call of a broken turn
 * that nobody answered is dropped: the model never finished saying it. An id that was used before is replaced.
 *
 * @param places where each message stood in the history that the losses speak of; empty where that is this one.
 * @param fit makes an id that the wire format takes.
 */
export function pairCalls(
  messages: readonly Message[],
  places: readonly number[],
  losses: Loss[],
  fit: (id: string) => string,
): readonly Message[] {
  if (isPaired(messages)) return messages;
  const out: Message[] = [];
  const seen = new Set<string>();
  let i = 0;
  while (i < messages.length) {
    const message = messages[i];
    const from = places[i] ?? i;
    i++;
    if (message === undefined) continue;
    if (message.role === "toolResult") {
      losses.push({ kind: "orphan-result", message: from, detail: message.toolCallId });
      continue;
    }
    if (message.role === "user") {
      out.push(message);
      continue;
    }
    const calls = callsOf(message);
    if (calls.length === 0) {
      out.push(message);
      continue;
    }
    if (inOrder(messages, i, calls, seen)) {
      out.push(message);
      for (const call of calls) {
        seen.add(call.id);
        const result = messages[i++];
        if (result !== undefined) out.push(result);
      }
      continue;
    }
    const results = new Map<string, ToolResultMessage[]>();
    const between: Message[] = [];
    for (; i < messages.length; i++) {
      const next = messages[i];
      if (next === undefined || next.role === "assistant") break;
      if (next.role === "user") {
        between.push(next);
        continue;
      }
      const id = next.toolCallId;
      const given = results.get(id) ?? [];
      const wanted = calls.filter((call) => call.id === id).length;
      if (given.length >= wanted) losses.push({ kind: "orphan-result", message: places[i] ?? i, detail: id });
      else results.set(id, [...given, next]);
    }
    const kept = calls.filter(
      (call) => results.has(call.id) || call.args !== undefined || message.stopReason === "tool_use",
    );
    const trimmedTurn =
      kept.length === calls.length ? message : without(message, new Set(kept), from, losses);
    const ids = kept.map((call) => {
      const id = seen.has(call.id) ? fit(`${call.id}#${seen.size}`) : call.id;
      seen.add(id);
      return id;
    });
    const renamed = ids.some((id, at) => id !== kept[at]?.id);
    if (trimmedTurn !== undefined) out.push(renamed ? rename(trimmedTurn, ids) : trimmedTurn);
    kept.forEach((call, at) => {
      const id = ids[at] ?? call.id;
      const result = results.get(call.id)?.shift();
      if (result === undefined) losses.push({ kind: "orphan-call", message: from, detail: call.id });
      if (id !== call.id) losses.push({ kind: "call-id", message: from, detail: call.id });
      const paired = result ?? resultFor(call, message.timestamp);
      const fits = id === call.id && paired.toolName === call.name;
      out.push(fits ? paired : { ...paired, toolCallId: id, toolName: call.name });
    });
    for (const one of between) out.push(one);
  }
  if (out[0]?.role === "assistant") out.unshift({ role: "user", content: CUT, timestamp: out[0].timestamp });
  return out;
}

/** Whether there is nothing to do: what most histories cost. */
function isPaired(messages: readonly Message[]): boolean {
  if (messages[0]?.role === "assistant") return false;
  let seen: Set<string> | undefined;
  let i = 0;
  while (i < messages.length) {
    const message = messages[i++];
    if (message === undefined || message.role === "toolResult") return false;
    if (message.role === "user") continue;
    for (const block of message.content) {
      if (block.type !== "toolCall") continue;
      const result = messages[i++];
      if (result?.role !== "toolResult" || result.toolCallId !== block.id) return false;
      if (result.toolName !== block.name) return false;
      seen ??= new Set();
      if (seen.has(block.id)) return false;
      seen.add(block.id);
    }
  }
  return true;
}

/** Whether the results of `calls` follow at once, in their order, under ids that are new: nothing to be mended. */
function inOrder(
  messages: readonly Message[],
  from: number,
  calls: readonly ToolCallBlock[],
  seen: ReadonlySet<string>,
): boolean {
  for (let at = 0; at < calls.length; at++) {
    const { id = "", name = "" } = calls[at] ?? {};
    const result = messages[from + at];
    if (result?.role !== "toolResult" || result.toolCallId !== id || seen.has(id)) return false;
    if (result.toolName !== name) return false;
    for (let before = 0; before < at; before++) if (calls[before]?.id === id) return false;
  }
  return true;
}

function without(
  message: AssistantMessage,
  kept: ReadonlySet<ToolCallBlock>,
  from: number,
  losses: Loss[],
): AssistantMessage | undefined {
  const content = message.content.filter((block) => block.type !== "toolCall" || kept.has(block));
  losses.push({ kind: "partial", message: from, detail: "a call that was cut off" });
  if (content.length === 0) return undefined;
  const known = trimmed.get(message);
  if (known !== undefined && known.content.length === content.length) return known;
  const turn = { ...message, content };
  trimmed.set(message, turn);
  return turn;
}

function rename(message: AssistantMessage, ids: readonly string[]): AssistantMessage {
  let at = 0;
  const content = message.content.map((block) =>
    block.type === "toolCall" ? { ...block, id: ids[at++] ?? block.id } : block,
  );
  return { ...message, content };
}
