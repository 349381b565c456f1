import { type InputBlock, withContent } from "../content.ts";
import type { AgentMessage, ToolResultMessage } from "../messages.ts";
import { estimateTokens } from "../tokens.ts";

const REMOVED: readonly InputBlock[] = [
  {
    type: "text",
    text: "(This old result was removed to make room. Call the tool again if it is still needed.)",
  },
];
const MEDIA_REMOVED = "(media of this old result removed to make room)";
/** Number of characters to keep at the start and at the end of a long text. */
const SOFT_CHARS = 1_500;

/**
 * Shortens old tool results: `soft` keeps the start and the end of long ones, `hard` replaces whole results with a
 * note. Pure and deterministic. Results of the last `protectTurns` model turns are not changed.
 *
 * @returns the replaced messages with their replacements, and the number of tokens saved
 */
export function pruneToolResults(
  messages: readonly AgentMessage[],
  level: "soft" | "hard",
  protectTurns: number = 3,
): { readonly changes: ReadonlyMap<ToolResultMessage, ToolResultMessage>; readonly tokensSaved: number } {
  const changes = new Map<ToolResultMessage, ToolResultMessage>();
  let tokensSaved = 0;
  const turns = messages.flatMap(({ role }, at) => (role === "assistant" ? [at] : []));
  const end = protectTurns <= 0 ? messages.length : turns.at(-protectTurns);
  for (const message of messages.slice(0, end ?? 0)) {
    if (message.role !== "toolResult") continue;
    const pruned = level === "hard" ? { ...message, content: REMOVED } : soften(message);
    const saved = pruned === message ? 0 : estimateTokens(message) - estimateTokens(pruned);
    if (saved <= 0) continue;
    changes.set(message, pruned);
    tokensSaved += saved;
  }
  return { changes, tokensSaved };
}

function soften(message: ToolResultMessage): ToolResultMessage {
  const content = message.content.map((block): InputBlock => {
    if (block.type !== "text") return { type: "text", text: MEDIA_REMOVED };
    // Only shorten texts that are much longer, because each change invalidates the vendor's prompt cache.
    if (block.text.length <= 3 * SOFT_CHARS) return block;
    const omitted = block.text.length - 2 * SOFT_CHARS;
    const head = block.text.slice(0, SOFT_CHARS).toWellFormed();
    const tail = block.text.slice(-SOFT_CHARS).toWellFormed();
    return { type: "text", text: `${head}\n\n[${omitted} characters of this old result removed]\n\n${tail}` };
  });
  return withContent(message, content);
}
