import type { AgentMessage, AssistantMessage, Block, StopReason, UserMessage } from "@signalbox/agent-core";
import { formatBody } from "@signalbox/prompt";
import type { TaintSource } from "@signalbox/tools";

/** Maximum length of one imported message, in characters. */
const MAX_MESSAGE_CHARS = 1_000_000;
/** Maximum number of messages of one imported conversation. The oldest ones are left out. */
export const MAX_MESSAGES = 200_000;

const CUT = "\n[… cut at the import]";

/** Shortens a text to the maximum length of a message. */
function cutText(text: string): string {
  return text.length <= MAX_MESSAGE_CHARS ? text : `${text.slice(0, MAX_MESSAGE_CHARS)}${CUT}`;
}

/** A person's message in another system. */
export interface SourceUserMessage {
  readonly messageId: string;
  readonly senderName: string;
  /** As `channel:id`. Absent if the source does not record it. */
  readonly senderId?: string | undefined;
  readonly text: string;
  readonly timestamp: number;
}

/** Converts a person's message. Lines that imitate the gateway's own marks are escaped. */
export function toUserMessage({ senderId, timestamp, ...body }: SourceUserMessage): UserMessage {
  return {
    role: "user",
    content: formatBody({ ...body, text: cutText(body.text) }),
    ...(senderId === undefined ? {} : { senderId }),
    timestamp,
  };
}

export interface SourceToolCall {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
}

/** Converts a model's message. Thinking is left out, because its signatures belong to another account. */
export function toAssistantMessage(source: {
  readonly texts: readonly string[];
  readonly calls: readonly SourceToolCall[];
  readonly api?: string | undefined;
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly stopReason: StopReason;
  readonly timestamp: number;
}): AssistantMessage {
  const {
    texts,
    calls,
    api = "import",
    provider = "import",
    model = "unknown",
    stopReason,
    timestamp,
  } = source;
  return {
    role: "assistant",
    content: [
      ...texts.filter((text) => text !== "").map((text): Block => ({ type: "text", text: cutText(text) })),
      ...calls.map(({ id, name, args }) => toCallBlock(id, name, args)),
    ],
    api,
    provider,
    model,
    stopReason,
    timestamp,
  };
}

/** File tools take `file_path` here, and `path` in other systems. */
const FILE_TOOLS = ["read", "write", "edit"];

function toCallBlock(id: string, name: string, args: unknown): Block {
  const parsed = typeof args === "string" ? parseObject(args) : args;
  const record: Record<string, unknown> =
    typeof parsed === "object" && parsed !== null && !Array.isArray(parsed) ? { ...parsed } : {};
  if (FILE_TOOLS.includes(name) && typeof record["path"] === "string" && record["file_path"] === undefined) {
    record["file_path"] = record["path"];
    delete record["path"];
  }
  const argsText = JSON.stringify(record);
  return { type: "toolCall", id, name, args: JSON.parse(argsText), argsText } as Block;
}

function parseObject(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/**
 * Repairs a history so that every model accepts it: it starts with a person's message or a summary, every call of a
 * tool has exactly one result after it, and results without a call are left out.
 *
 * @returns the messages, and the number of messages that were left out
 */
export function repairHistory(messages: readonly AgentMessage[]): {
  readonly messages: readonly AgentMessage[];
  readonly dropped: number;
} {
  const results = new Map<string, Extract<AgentMessage, { role: "toolResult" }>>();
  for (const message of messages) if (message.role === "toolResult") results.set(message.toolCallId, message);
  const repaired: AgentMessage[] = [];
  let dropped = 0;
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  for (const [index, message] of messages.entries()) {
    if (message.role === "toolResult") continue;
    if (message.role !== "assistant") {
      repaired.push(message);
      continue;
    }
    if (!repaired.some(({ role }) => role === "user" || role === "compactionSummary")) {
      dropped++;
      continue;
    }
    const isUnanswered = (block: Block): boolean =>
      block.type === "toolCall" && index === last && !results.has(block.id);
    const content = message.content.filter((block) => !isUnanswered(block));
    if (content.length === 0) {
      dropped++;
      continue;
    }
    const calls = content.filter((block) => block.type === "toolCall");
    const stopReason =
      calls.length > 0
        ? ("tool_use" as const)
        : message.stopReason === "tool_use"
          ? "end_turn"
          : message.stopReason;
    repaired.push({ ...message, content, stopReason });
    for (const { id, name } of calls) {
      const result = results.get(id);
      results.delete(id);
      repaired.push(
        result ?? {
          role: "toolResult",
          toolCallId: id,
          toolName: name,
          content: [{ type: "text", text: "The result was not recorded." }],
          isError: true,
          timestamp: message.timestamp,
        },
      );
    }
  }
  return { messages: repaired, dropped };
}

/** Untrusted content and speakers of a conversation. */
export interface ImportedTaint {
  readonly sources: Set<TaintSource>;
  readonly speakers: Set<string>;
}

/** Adds the untrusted content that a tool of another system returned. */
export function taintByTool({ sources }: ImportedTaint, tool: string): void {
  if (/^(web_|browser|canvas|fetch)/.test(tool)) sources.add("web");
  else if (!OWN_TOOLS.has(tool)) sources.add("mcp");
}

/** Tools whose results are the agent's own files and state. */
const OWN_TOOLS = new Set([
  ...["read", "write", "edit", "apply_patch", "ls", "find", "grep", "exec", "process", "message", "cron"],
  ...["memory_search", "memory_get", "image", "session_status", "agents_list", "subagents", "gateway"],
  ...["sessions_list", "sessions_spawn"],
]);
