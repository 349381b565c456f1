import { join, resolve } from "node:path";
import { createAttachmentFiles } from "../attachments.ts";
import { type ChatMessage, convertChatMessages } from "../chat-messages.ts";
import { CHANNELS, type Chat, KEPT_ON_PAGE, keepOnPage, placeChat } from "../chats.ts";
import type { KnownGroups } from "../common.ts";
import { toConversation } from "../conversations.ts";
import type { SourceDatabase } from "../database-copy.ts";
import type { Item } from "../item.ts";
import type { ImportedTaint } from "../messages.ts";
import { asText } from "../settings.ts";
import type { Import, LoadedConversation, ReadOptions } from "../source.ts";
import { ACCOUNT, type Configuration } from "./configuration.ts";

/** A session of `state.db` with the sessions that it continues, oldest first. */
export interface Chain {
  readonly id: string;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly chat: Chat | undefined;
  readonly source: string;
}

/** Sources of conversations that are no channels. */
const OWN_SOURCES = ["cli", "cron", "api", "acp"];

const SESSION_COLUMNS = [
  "id",
  "source",
  "session_key",
  "chat_id",
  "chat_type",
  "parent_session_id",
  "started_at",
];
const MESSAGE_COLUMNS = [
  "id",
  "session_id",
  "role",
  "content",
  "tool_call_id",
  "tool_calls",
  "tool_name",
  "timestamp",
];

/** Returns the conversations. A compression ends a session and begins a child, so a chain is one conversation. */
export function readChains(database: SourceDatabase, items: Item[]): readonly Chain[] {
  if (!database.has("sessions", SESSION_COLUMNS) || !database.has("messages", MESSAGE_COLUMNS)) {
    items.push({
      part: "sessions",
      id: "state.db",
      state: "unsupported",
      why: "It has other columns than known versions of Hermes. It was not read.",
    });
    return [];
  }
  const rows = database.all("SELECT * FROM sessions ORDER BY started_at, id");
  const byId = new Map(rows.map((row) => [asText(row["id"]) ?? "", row]));
  const parents = new Set(rows.flatMap((row) => asText(row["parent_session_id"]) ?? []));
  return rows
    .filter((row) => !parents.has(asText(row["id"]) ?? ""))
    .map((row) => {
      const chain: Readonly<Record<string, unknown>>[] = [];
      for (let next: typeof row | undefined = row; next !== undefined && !chain.includes(next); ) {
        chain.unshift(next);
        next = byId.get(asText(next["parent_session_id"]) ?? "");
      }
      return {
        id: asText(row["id"]) ?? "",
        rows: chain,
        source: asText(row["source"]) ?? "",
        chat: chatOf(row),
      };
    });
}

/** Returns the chat of a session: `agent:main:<platform>:<dm or group>:<chat>[:<thread>]`. */
function chatOf(row: Readonly<Record<string, unknown>>): Chat | undefined {
  const source = asText(row["source"]) ?? "";
  const chatId = asText(row["chat_id"]);
  const type = asText(row["chat_type"]);
  const [, channel, kind, id, thread] =
    /^agent:[^:]+:([^:]+):([^:]+):([^:]+)(?::(.+))?$/.exec(asText(row["session_key"]) ?? "") ?? [];
  const peer = chatId ?? id;
  if (peer === undefined) return undefined;
  const isDirect = (type ?? kind) === "dm" || (type ?? kind) === "private" || (type ?? kind) === "direct";
  const userId = asText(row["user_id"]);
  return {
    channel: channel ?? source,
    chatId: isDirect && userId !== undefined ? userId : peer,
    kind: isDirect ? "direct" : "group",
    thread: asText(row["thread_id"]) ?? thread,
  };
}

/** Returns the groups with conversations. */
export function listGroups(chains: readonly Chain[]): KnownGroups {
  const groups = new Map<string, Set<string>>();
  for (const { chat } of chains)
    if (chat?.kind === "group")
      groups.set(chat.channel, (groups.get(chat.channel) ?? new Set()).add(chat.chatId));
  return groups;
}

/** Converts a conversation. Items describe the sessions that it continues, or why it is left out. */
export function convertChain(
  { id, rows, chat, source }: Chain,
  database: SourceDatabase | undefined,
  agentId: string,
  { owners }: Configuration,
  options: ReadOptions,
): { readonly import?: Import; readonly items: readonly Item[] } {
  // Earlier sessions of the chain are its generations.
  const earlier = rows.slice(0, -1).map(
    (row): Item => ({
      part: "sessions",
      id: asText(row["id"]) ?? "",
      state: "skipped",
      why: `It is a part of ${id}, which continues it.`,
    }),
  );
  const leaveOut = (state: Item["state"], why: string) => ({
    items: [...earlier, { part: "sessions" as const, id, state, why }],
  });
  const updatedAt = Math.max(...rows.map((row) => millis(row["ended_at"]) || millis(row["started_at"])));
  const isOfGateway = OWN_SOURCES.includes(source);
  if (isOfGateway && !options.all)
    return leaveOut("skipped", `Conversations of ${source} cannot be continued. --all keeps it.`);
  if (options.since !== undefined && updatedAt < options.since)
    return leaveOut("skipped", "It was not active in the chosen time.");
  const account = options.accounts[`${chat?.channel}/${ACCOUNT}`] ?? ACCOUNT;
  const converted =
    chat === undefined || isOfGateway || !CHANNELS.includes(chat.channel)
      ? `Conversations of ${source || "this source"} cannot be continued.`
      : placeChat(chat, { agentId, account, dmScope: "per-channel-peer" });
  const place = keepOnPage(converted, agentId, id, isOfGateway || options.keepUnsupported);
  if (typeof place === "string") return leaveOut("unsupported", place);
  const speaker = `${chat?.channel}:${chat?.chatId}`;
  const isDirect = place.kind === "direct" && place === converted;
  const isOwners = isDirect && owners.includes(speaker);
  const mediaFolders = CACHES.map((name) => join(resolve(options.dir), name));
  const load = (): LoadedConversation => {
    const losses = new Set<string>(place === converted ? [] : [KEPT_ON_PAGE]);
    const attachments = createAttachmentFiles({
      sessionKey: place.key,
      workspace: `workspaces/${agentId}`,
      folders: mediaFolders,
      mediaFolders,
    });
    let taint: ImportedTaint = { sources: new Set(), speakers: new Set() };
    let lastEvent = "";
    let lastAt = 0;
    const generations = rows.flatMap((row, index) => {
      const messages = readMessages(database, asText(row["id"]) ?? "");
      const last = messages.at(-1);
      lastEvent = last?.id ?? lastEvent;
      lastAt = Math.max(lastAt, last?.at ?? 0);
      if (index < rows.length - 1 && (last?.at ?? 0) < options.now - options.hiddenMessagesMs) {
        losses.add(
          "Parts that ended before the retention limit of hidden messages (retention.hiddenMessagesDays).",
        );
        return [];
      }
      taint = {
        sources: new Set(isOwners ? [] : (["history"] as const)),
        speakers: new Set(isOwners ? [] : [isDirect ? speaker : "unknown"]),
      };
      const generation = convertChatMessages(
        messages,
        {
          id: isDirect ? speaker : undefined,
          name: asText(row["display_name"]) ?? chat?.chatId ?? "unknown",
        },
        taint,
        losses,
        attachments,
      );
      return generation.entries.length === 0 ? [] : [generation];
    });
    return toConversation(place, {
      title: asText(rows.at(-1)?.["title"]),
      createdAt: millis(rows[0]?.["started_at"]),
      updatedAt: Math.max(lastAt, updatedAt),
      generations,
      taint,
      lastEvent,
      losses,
      files: attachments.files,
    });
  };
  return { import: { kind: "session", id, load }, items: earlier };
}

/** Returns the messages of a session that are not undone, and not what others said in a group without the agent. */
function readMessages(database: SourceDatabase | undefined, session: string): readonly ChatMessage[] {
  if (database === undefined) return [];
  return database
    .all("SELECT * FROM messages WHERE session_id = ? ORDER BY id", session)
    .filter((row) => row["active"] !== 0 && row["observed"] !== 1)
    .map((row) => ({
      id: asText(row["id"]) ?? "",
      role: asText(row["role"]) ?? "",
      content: row["content"],
      toolCalls: row["tool_calls"],
      toolCallId: asText(row["tool_call_id"]),
      toolName: asText(row["tool_name"]),
      at: millis(row["timestamp"]),
      media: findAttachments(row["content"]),
    }));
}

/** Folders of a home with attachments: those of present versions, and of old ones. */
const CACHES = [
  ...["cache/images", "cache/audio", "cache/videos", "cache/documents", "cache"],
  ...["image_cache", "audio_cache", "document_cache"],
];

/** Hermes names attachments in the text: `[The user sent a document: 'a.pdf'. It is saved at: /…/a.pdf. …]`. */
const ATTACHMENT =
  /(?:saved at: |image_url: |using image_url: |voice message: )(\/[^\s\]'"]+?)\.?(?=[\s\]'"]|$)/g;

/** Returns the paths that Hermes wrote into a message. Those outside of its folders for attachments are not copied. */
function findAttachments(content: unknown): readonly string[] {
  if (typeof content !== "string" || !content.includes("[The user ")) return [];
  return [...new Set([...content.matchAll(ATTACHMENT)].flatMap(([, path]) => path ?? []))];
}

/** Converts seconds with fractions to milliseconds. */
function millis(seconds: unknown): number {
  return typeof seconds === "number" && Number.isFinite(seconds) ? Math.round(seconds * 1_000) : 0;
}
