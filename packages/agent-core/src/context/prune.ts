import type { InputBlock } from "../content.ts";
import type { AgentMessage, ToolResultMessage } from "../messages.ts";
import { estimateTokens } from "../tokens.ts";

const REMOVED = "(This old result was removed to make room. Call the tool again if it is still needed.)";
const MEDIA_REMOVED = "(media of this old result removed to make room)";

export interface PruneOptions {
  /** `soft` keeps start and end of long results; `hard` replaces whole results by a note. */
  readonly level: "soft" | "hard";
  /** The last model turns whose results stay; default 3. */
  readonly protectTurns?: number;
  /** Characters kept of start and end each; default 1,500. */
  readonly softChars?: number | undefined;
}

export interface Pruned {
  /** Which text to send instead of which result. */
  readonly changes: ReadonlyMap<ToolResultMessage, ToolResultMessage>;
  readonly tokensSaved: number;
}

/**
 * Makes old tool results shorter. Pure: the history is not changed, and the same result always becomes the same text.
 * Only results before the last `protectTurns` model turns are touched.
 */
export function pruneToolResults(messages: readonly AgentMessage[], options: PruneOptions): Pruned {
  const changes = new Map<ToolResultMessage, ToolResultMessage>();
  let tokensSaved = 0;
  const end = protectedFrom(messages, options.protectTurns ?? 3);
  for (let i = 0; i < end; i++) {
    const message = messages[i];
    if (message?.role !== "toolResult") continue;
    const content =
      options.level === "hard" ? REMOVED_CONTENT : soften(message.content, options.softChars ?? 1_500);
    if (content === message.content) continue;
    const pruned: ToolResultMessage = { ...message, content };
    const saved = estimateTokens(message) - estimateTokens(pruned);
    if (saved <= 0) continue;
    changes.set(message, pruned);
    tokensSaved += saved;
  }
  return { changes, tokensSaved };
}

const REMOVED_CONTENT: readonly InputBlock[] = [{ type: "text", text: REMOVED }];

/** Index of the first message of the last `turns` model turns. */
function protectedFrom(messages: readonly AgentMessage[], turns: number): number {
  let left = turns;
  for (let i = messages.length - 1; i >= 0; i--) {
    if (messages[i]?.role === "assistant" && --left <= 0) return i;
  }
  return turns <= 0 ? messages.length : 0;
}

function soften(content: readonly InputBlock[], chars: number): readonly InputBlock[] {
  const next = content.map((block): InputBlock => {
    if (block.type !== "text") return { type: "text", text: MEDIA_REMOVED };
    // Not worth a change, which costs the vendor's prompt cache, unless it makes the text a good deal shorter.
    if (block.text.length <= chars * 3) return block;
    const omitted = block.text.length - 2 * chars;
    const head = block.text.slice(0, chars).toWellFormed();
    const tail = block.text.slice(-chars).toWellFormed();
    return { type: "text", text: `${head}\n\n[${omitted} characters of this old result removed]\n\n${tail}` };
  });
  return next.every((block, at) => block === content[at]) ? content : next;
}
