import type { AgentMessage, StopReason } from "@signalbox/agent-core";
import type { ImportedGeneration } from "@signalbox/store";
import type { AttachmentFiles } from "../attachments.ts";
import {
  type ImportedTaint,
  MAX_MESSAGES,
  repairHistory,
  taintByTool,
  toAssistantMessage,
  toUserMessage,
} from "../messages.ts";
import { asRecord, asText } from "../settings.ts";

/** An event of a transcript, parsed from JSON. */
export type TranscriptEvent = Readonly<Record<string, unknown>>;

export interface EventContext {
  readonly channel: string | undefined;
  /** Owners here, as `channel:id`. */
  readonly owners: readonly string[];
  /** True for the main conversation of an agent, whose old messages have no sender. */
  readonly isMain: boolean;
  /** Content from a webhook or an e-mail. */
  readonly hasExternalContent: boolean;
  readonly attachments: AttachmentFiles;
}

/** A history as it is stored here. */
export interface ConvertedEvents {
  readonly generations: readonly ImportedGeneration[];
  readonly taint: ImportedTaint;
  readonly lastEvent: string;
  readonly lastAt: number;
  readonly losses: ReadonlySet<string>;
}

/** Messages between two resets. */
interface Draft {
  startedAt: number;
  messages: AgentMessage[];
  /** Event ids of the messages. */
  ids: string[];
  summary: { readonly text: string; readonly at: number; readonly replaces: number } | undefined;
  taint: ImportedTaint;
}

/** Converts the events of windows to generations. Each window, and each reset in one, starts a generation. */
export function convertEvents(
  windows: Iterable<{ readonly startedAt: number; readonly events: Iterable<TranscriptEvent> }>,
  context: EventContext,
): ConvertedEvents {
  const losses = new Set<string>();
  const done: { readonly draft: Draft; readonly lastAt: number }[] = [];
  let lastEvent = "";
  let lastAt = 0;
  let count = 0;
  const finish = (draft: Draft): void => {
    if (draft.messages.length > 0) done.push({ draft, lastAt });
  };
  for (const { startedAt, events } of windows) {
    let draft = createDraft(startedAt);
    for (const event of events) {
      const at = timeOf(event) ?? lastAt;
      lastEvent = asText(event["id"]) ?? lastEvent;
      lastAt = Math.max(lastAt, at);
      if (event["type"] === "reset") {
        finish(draft);
        draft = createDraft(at);
        continue;
      }
      if (event["type"] === "compaction") {
        const kept = draft.ids.indexOf(asText(event["firstKeptEntryId"]) ?? "");
        draft.summary = {
          text: asText(event["summary"]) ?? "",
          at,
          replaces: kept === -1 ? draft.messages.length : kept,
        };
        continue;
      }
      const message = convertEvent(event, at, context, draft.taint, losses);
      if (message === undefined) continue;
      count++;
      draft.messages.push(message);
      draft.ids.push(asText(event["id"]) ?? "");
    }
    finish(draft);
  }
  if (count > MAX_MESSAGES) {
    losses.add(`Only the newest ${MAX_MESSAGES} messages are imported.`);
    trim(
      done.map(({ draft }) => draft),
      count - MAX_MESSAGES,
    );
  }
  const generations = done.map(({ draft }) => toGeneration(draft, losses));
  const last = done.at(-1)?.draft.taint ?? createTaint();
  return { generations, taint: last, lastEvent, lastAt, losses };
}

const createTaint = (): ImportedTaint => ({ sources: new Set(), speakers: new Set() });

function createDraft(startedAt: number): Draft {
  return { startedAt, messages: [], ids: [], summary: undefined, taint: createTaint() };
}

function trim(drafts: readonly Draft[], excess: number): void {
  let left = excess;
  for (const draft of drafts) {
    const dropped = Math.min(left, draft.messages.length);
    draft.messages = draft.messages.slice(dropped);
    if (draft.summary !== undefined)
      draft.summary = { ...draft.summary, replaces: Math.max(0, draft.summary.replaces - dropped) };
    left -= dropped;
  }
}

function toGeneration({ startedAt, messages, summary }: Draft, losses: Set<string>): ImportedGeneration {
  const replaced = repairHistory(messages.slice(0, summary?.replaces ?? 0));
  const head: AgentMessage[] =
    summary === undefined
      ? []
      : [
          {
            role: "compactionSummary",
            summary: summary.text,
            replaced: replaced.messages.length,
            timestamp: summary.at,
          },
        ];
  const rest = repairHistory([...head, ...messages.slice(summary?.replaces ?? 0)]);
  if (replaced.dropped + rest.dropped > 0)
    losses.add("Calls of tools without a result, or messages without a question.");
  const entry = (message: AgentMessage) => ({ message, at: message.timestamp });
  return {
    startedAt,
    entries: [
      ...replaced.messages.map(entry),
      ...rest.messages.map((message) =>
        message.role === "compactionSummary"
          ? { ...entry(message), replaces: replaced.messages.length }
          : entry(message),
      ),
    ],
  };
}

/** Returns the time of an event in milliseconds since the epoch. */
function timeOf(event: TranscriptEvent): number | undefined {
  const own = asRecord(event["message"])?.["timestamp"];
  if (typeof own === "number" && Number.isFinite(own)) return own;
  const text = event["timestamp"];
  const at = typeof text === "string" ? Date.parse(text) : typeof text === "number" ? text : Number.NaN;
  return Number.isFinite(at) ? at : undefined;
}

function convertEvent(
  event: TranscriptEvent,
  at: number,
  context: EventContext,
  taint: ImportedTaint,
  losses: Set<string>,
): AgentMessage | undefined {
  if (event["type"] === "branch_summary")
    return { role: "branchSummary", summary: asText(event["summary"]) ?? "", timestamp: at };
  if (event["type"] === "custom_message") {
    const text = textOf(event["content"]);
    return text === "" ? undefined : { role: "custom", kind: "openclaw", content: text, timestamp: at };
  }
  const message = asRecord(event["message"]);
  if (event["type"] !== "message" || message === undefined) return undefined;
  if (message["role"] === "user") return convertUser(event, message, at, context, taint, losses);
  if (message["role"] === "assistant") return convertAssistant(message, at);
  if (message["role"] !== "toolResult") return undefined;
  const name = asText(message["toolName"]) ?? "unknown";
  taintByTool(taint, name);
  return {
    role: "toolResult",
    toolCallId: asText(message["toolCallId"]) ?? "",
    toolName: name,
    content: [{ type: "text", text: textOf(message["content"]) || "(no text)" }],
    isError: message["isError"] === true,
    timestamp: at,
  };
}

const SESSION_EVENT = "[OpenClaw session event]";

function convertUser(
  event: TranscriptEvent,
  message: TranscriptEvent,
  at: number,
  context: EventContext,
  taint: ImportedTaint,
  losses: Set<string>,
): AgentMessage | undefined {
  const text = textOf(message["content"]);
  if (asRecord(message["provenance"])?.["kind"] === "internal_system" || text === SESSION_EVENT)
    return undefined;
  const facts = asRecord(message["__openclaw"]);
  const old = facts === undefined ? readOldEnvelope(text) : undefined;
  const id = asText(facts?.["senderId"]);
  const transport = asRecord(facts?.["transport"]);
  const channel = asText(transport?.["channel"]) ?? context.channel;
  const senderId = id === undefined || channel === undefined ? undefined : `${channel}:${id}`;
  const isOwner = senderId !== undefined && context.owners.includes(senderId);
  if (senderId !== undefined && !isOwner) taint.speakers.add(senderId);
  if (context.hasExternalContent || /EXTERNAL_UNTRUSTED_CONTENT/.test(text)) {
    taint.sources.add("other");
    taint.speakers.add("unknown");
  }
  if (facts === undefined && !context.isMain) {
    taint.sources.add("history");
    taint.speakers.add("unknown");
  }
  return toUserMessage({
    messageId: asText(transport?.["messageId"]) ?? old?.messageId ?? `import:${asText(event["id"]) ?? ""}`,
    senderName: asText(facts?.["senderName"]) ?? old?.name ?? id ?? "unknown",
    senderId,
    text: [old?.text ?? text, ...context.attachments.describe(facts?.["media"], losses)].join("\n"),
    timestamp: at,
  });
}

/** Text of a person before 2026.7: `[Telegram Ann …] text`, and the id of the message in the last line. */
const OLD_ENVELOPE =
  /^\[(?:Telegram|Discord|Slack|Feishu|Lark) ([^\]\n]{1,200}?)(?: id:[^\]\n ]+)?(?: [+-]\d[^\]\n]*)?(?: \d{4}-\d\d-\d\d[^\]\n]*)?\] ([\s\S]*)\n\[message_id: ([^\]\n]{1,200})\]\s*$/;

/** Reads the envelope of old messages. Returns undefined unless the whole text matches. */
function readOldEnvelope(
  text: string,
): { readonly name: string; readonly text: string; readonly messageId: string } | undefined {
  const [, name, body, messageId] = OLD_ENVELOPE.exec(text) ?? [];
  return name === undefined || body === undefined || messageId === undefined
    ? undefined
    : { name, text: body, messageId };
}

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  stop: "end_turn",
  toolUse: "tool_use",
  length: "max_tokens",
  error: "error",
  aborted: "aborted",
};

function convertAssistant(message: TranscriptEvent, at: number): AgentMessage | undefined {
  // A copy of a delivered answer, which the transcript contains already.
  if (message["provider"] === "openclaw" && message["model"] === "delivery-mirror") return undefined;
  const content = message["content"];
  const blocks = Array.isArray(content) ? content.map(asRecord) : [{ type: "text", text: content }];
  const converted = toAssistantMessage({
    texts: blocks.flatMap((block) =>
      block?.["type"] === "text" && typeof block["text"] === "string" ? [block["text"]] : [],
    ),
    calls: blocks.flatMap((block) => {
      const id = asText(block?.["id"]);
      const name = asText(block?.["name"]);
      return block?.["type"] === "toolCall" && id !== undefined && name !== undefined
        ? [{ id, name, args: block["arguments"] }]
        : [];
    }),
    api: asText(message["api"]),
    provider: asText(message["provider"]),
    model: asText(message["model"]),
    stopReason: STOP_REASONS[asText(message["stopReason"]) ?? ""] ?? "end_turn",
    timestamp: at,
  });
  return converted.content.length === 0 ? undefined : converted;
}

/** Returns the text of a content, and marks for anything else in it. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((block) => {
      const record = asRecord(block);
      if (record?.["type"] === "text") return typeof record["text"] === "string" ? record["text"] : "";
      return `[attachment: ${asText(record?.["type"]) ?? "file"}, not kept]`;
    })
    .filter((text) => text !== "")
    .join("\n");
}
