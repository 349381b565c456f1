import type { Block } from "../content.ts";
import type { AgentMessage } from "../messages.ts";
import { estimateTokens } from "../tokens.ts";
import { truncateText } from "./truncate.ts";

/**
 * Maximum length in characters of a message, of arguments and of a result. Results get the least, because they are long
 * and matter least.
 */
const TEXT_CHARS = 8_000;
const ARGS_CHARS = 1_000;
const RESULT_CHARS = 2_000;

function contentText(content: string | readonly Block[], max: number): string {
  if (typeof content === "string") return truncateText(content, max, "head_tail");
  return content.flatMap((block) => blockText(block, max) ?? []).join("\n");
}

function blockText(block: Block, max: number): string | undefined {
  switch (block.type) {
    case "text":
    case "refusal":
    case "citation":
      return truncateText(block.text, max, "head_tail");
    case "toolCall":
      return `[called ${block.name} ${truncateText(block.argsText, ARGS_CHARS, "head")}]`;
    case "image":
    case "audio":
    case "file":
      return `[${block.type}, ${block.mimeType}]`;
    case "thinking":
    case "opaque":
      return undefined;
  }
}

/** Formats a message for the transcript. */
function formatMessage(message: AgentMessage): string {
  switch (message.role) {
    case "user":
      return `User: ${contentText(message.content, TEXT_CHARS)}`;
    case "assistant":
      return `Assistant: ${contentText(message.content, TEXT_CHARS)}`;
    case "toolResult": {
      const failed = message.isError ? " (failed)" : "";
      return `Result of ${message.toolName}${failed}: ${contentText(message.content, RESULT_CHARS)}`;
    }
    case "shellRun":
      return `User ran: ${message.command}\n${truncateText(message.output, RESULT_CHARS)}`;
    case "branchSummary":
      return `Summary of another branch: ${truncateText(message.summary, TEXT_CHARS)}`;
    case "compactionSummary":
      return `Summary of what came before: ${message.summary}`;
    case "custom":
      return `Note (${message.kind}): ${contentText(message.content, TEXT_CHARS)}`;
  }
}

/** Splits the transcript between messages into chunks of at most about `tokens` tokens each. */
export function createTranscriptChunks(messages: readonly AgentMessage[], tokens: number): string[] {
  const chunks: string[][] = [];
  let room = 0;
  for (const message of messages) {
    let text = formatMessage(message);
    let cost = estimateTokens(text);
    if (cost > tokens) {
      // The message is longer than a chunk, so cut it proportionally.
      text = truncateText(text, Math.max(200, Math.floor((text.length * tokens) / cost)), "head_tail");
      cost = tokens;
    }
    if (chunks.length === 0 || cost > room) {
      chunks.push([]);
      room = tokens;
    }
    chunks.at(-1)?.push(text);
    room -= cost;
  }
  return chunks.map((texts) => texts.join("\n\n"));
}

const EXCERPT_CHARS = 300;
const EARLIER_CHARS = 4_000;

/** Creates a deterministic summary without a model. */
export function createMetadataSummary(messages: readonly AgentMessage[]): string {
  const requests = messages
    .filter(({ role }) => role === "user")
    .map((message) => excerpt(getUserText(message)));
  const turns = messages.filter(({ role }) => role === "assistant").length;
  const results = messages.filter((message) => message.role === "toolResult");
  const tools = [...Map.groupBy(results, ({ toolName }) => toolName)].sort(([a], [b]) => (a < b ? -1 : 1));
  const earlier = messages.findLast((message) => message.role === "compactionSummary");
  const lines = [
    `No summary could be made of ${messages.length} older messages (${period(messages)}); this is what is known of them.`,
    `The user wrote ${requests.length} times, the assistant ${turns} times.`,
  ];
  const used = tools.map(([name, { length }]) => `${name} (${length})`);
  if (used.length > 0) lines.push(`Tools used: ${used.join(", ")}.`);
  if (requests.length > 0) lines.push("The user's requests, shortened:");
  for (const request of requests.slice(-10)) lines.push(`- ${request}`);
  if (earlier !== undefined) lines.push("", truncateText(earlier.summary, EARLIER_CHARS));
  return lines.join("\n");
}

function excerpt(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= EXCERPT_CHARS ? line : `${line.slice(0, EXCERPT_CHARS - 1).toWellFormed()}…`;
}

function period(messages: readonly AgentMessage[]): string {
  const times = [messages[0], messages.at(-1)].map((message) => new Date(message?.timestamp ?? Number.NaN));
  // `toJSON` returns null for an invalid date.
  return times.map((time) => time.toJSON() ?? "an unknown time").join(" to ");
}

/** Returns the shortened text of a user message. */
export function getUserText(message: AgentMessage): string {
  return message.role === "user" ? contentText(message.content, RESULT_CHARS) : "";
}
