import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { GatewayError } from "@signalbox/home";
import { createAttachmentFiles } from "../attachments.ts";
import { convertChatMessages } from "../chat-messages.ts";
import { CHANNELS, KEPT_ON_PAGE, keepOnPage, kindOfChat, placeChat } from "../chats.ts";
import type { KnownGroups } from "../common.ts";
import { toConversation } from "../conversations.ts";
import { readConfigurationFile } from "../files.ts";
import type { Item } from "../item.ts";
import type { ImportedTaint } from "../messages.ts";
import { parseRecord } from "../records.ts";
import { convertSchedules, type SourceSchedule, toFiveFields } from "../schedules.ts";
import { asRecord, asText, createSettingsReader } from "../settings.ts";
import type { ConversationImport, Import, LoadedConversation, ReadOptions, SourceHome } from "../source.ts";
import { keepWorkspace } from "../workspace-in-place.ts";
import { convertWorkspace, type NoteRules, type SourceWorkspace } from "../workspaces.ts";
import { convertConfiguration } from "./configuration.ts";
import { addHistory, HISTORY_FILES, timeOf } from "./history.ts";

const AGENT = "main";
const ACCOUNT = "main";
const PORT = 18_790;

/** A conversation of nanobot: the lines of one file. */
interface Session {
  readonly key: string;
  readonly file: string;
  readonly title: string | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly lines: readonly Readonly<Record<string, unknown>>[];
}

/** Reads a home of nanobot. @throws GatewayError if the folder is no home */
export async function readNanobot(options: ReadOptions): Promise<SourceHome> {
  const dir = resolve(options.dir);
  const file = join(dir, "config.json");
  if (!existsSync(file))
    throw new GatewayError("usage", `${dir} is no home of nanobot: it contains no config.json.`);
  const root = readConfigurationFile(file, dir);
  const reader = createSettingsReader(root);
  const configured = reader.text("agents", "defaults", "workspace");
  const workspaceDir = resolve((configured ?? join(dir, "workspace")).replace(/^~(?=\/|$)/, homedir()));
  const agentId = options.agents[AGENT] ?? AGENT;
  const items: Item[] = [];
  const sessions = readSessions([join(dir, "sessions"), join(workspaceDir, "sessions")], items);
  const pairing = readJson(join(dir, "pairing.json"));
  const paired = Object.entries(asRecord(pairing["approved"]) ?? {}).flatMap(([channel, ids]) =>
    Array.isArray(ids)
      ? ids.flatMap((id) => (asText(id) === undefined ? [] : [{ channel, peerId: asText(id) ?? "" }]))
      : [],
  );
  const pending = Object.keys(asRecord(pairing["pending"]) ?? {}).length;
  if (pending > 0)
    items.push({
      part: "people",
      id: "pairing.json/pending",
      state: "skipped",
      why: `${pending} codes that nobody approved.`,
    });
  const configuration = convertConfiguration(
    root,
    { paired, knownGroups: listGroups(sessions), agentId },
    options,
  );
  items.push(...configuration.items);
  const imports: Import[] = [...configuration.imports];
  const folders = [join(dir, "media"), workspaceDir];
  for (const session of sessions) {
    const converted = convertSession(session, agentId, folders, configuration, options);
    if ("kind" in converted) imports.push(converted);
    else items.push(converted);
  }
  const jobs = convertSchedules(readJobs(dir, agentId, configuration, options), {
    now: options.now,
    dmScope: configuration.dmScope,
    skipMissed: false,
  });
  imports.push(...jobs.imports);
  items.push(...jobs.items);
  const rules = { isUntrusted: configuration.hadOthers && !options.trustMemory };
  const source = { agentId, dir: workspaceDir, without: ["sessions"] };
  const workspace = options.inPlace
    ? keepWorkspace(source, rules)
    : convertWithHistory({ ...source, without: ["sessions", ...HISTORY_FILES] }, rules);
  imports.push(...workspace.imports);
  items.push(
    ...workspace.items.filter(({ why }) => why !== "It is read as a workspace of its own."),
    ...listRest(dir, workspaceDir),
  );
  return {
    system: "nanobot",
    dir,
    imports,
    items,
    warnings: configuration.warnings,
    steps:
      workspace.foreignLines.length === 0
        ? []
        : [`Lines that name nanobot's own commands or tools:\n${workspace.foreignLines.join("\n")}`],
    port: reader.number("gateway", "port") ?? PORT,
    close() {},
  };
}

/** Converts a workspace, and adds the summaries of earlier conversations to its notes. */
function convertWithHistory(source: SourceWorkspace, rules: NoteRules) {
  const converted = convertWorkspace(source, rules);
  return { ...converted, imports: addHistory(source.dir, source.agentId, converted.imports) };
}

function readJson(file: string): Readonly<Record<string, unknown>> {
  return existsSync(file) ? parseRecord(readFileSync(file, "utf8")) : {};
}

/** Returns the conversations in the folders, each of which is a file of lines. */
function readSessions(folders: readonly string[], items: Item[]): readonly Session[] {
  const found = new Map<string, Session>();
  for (const folder of folders) {
    if (!existsSync(folder)) continue;
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !entry.name.endsWith(".jsonl")) continue;
      const file = join(entry.parentPath, entry.name);
      const lines = readFileSync(file, "utf8")
        .split("\n")
        .flatMap((line) => (line.trim() === "" ? [] : [parseRecord(line)]));
      const head = lines.find((line) => line["_type"] === "metadata");
      const key = asText(head?.["key"]) ?? decodeName(entry.name);
      const session = {
        key,
        file,
        title: asText(asRecord(head?.["metadata"])?.["title"]),
        createdAt: timeOf(head?.["created_at"]),
        updatedAt: timeOf(head?.["updated_at"]) || statSync(file).mtimeMs,
        lines: lines.filter((line) => line["_type"] === undefined),
      };
      const other = found.get(key);
      if (other === undefined) found.set(key, session);
      else {
        const [older] = [other, session].toSorted((a, b) => a.updatedAt - b.updatedAt);
        if (older === other) found.set(key, session);
        items.push({
          part: "sessions",
          id: `${key} (${older?.file ?? ""})`,
          state: "skipped",
          why: "An older copy of the conversation.",
        });
      }
    }
  }
  return [...found.values()];
}

function decodeName(name: string): string {
  return Buffer.from(name.replace(/\.jsonl$/, ""), "base64url").toString("utf8");
}

function chatOf(key: string): { readonly channel: string; readonly chatId: string } | undefined {
  const [channel = "", chatId = ""] = key.split(/:(.*)/s);
  return chatId === "" ? undefined : { channel, chatId };
}

function listGroups(sessions: readonly Session[]): KnownGroups {
  const groups = new Map<string, Set<string>>();
  for (const { key } of sessions) {
    const chat = chatOf(key);
    if (chat === undefined || kindOfChat(chat) !== "group") continue;
    groups.set(chat.channel, (groups.get(chat.channel) ?? new Set()).add(chat.chatId));
  }
  return groups;
}

type Configuration = ReturnType<typeof convertConfiguration>;

/** Sources of conversations with nanobot itself: its terminal, its schedules and its interfaces for programs. */
const OWN_CHANNELS = ["cli", "cron", "heartbeat", "system", "api", "websocket"];

function convertSession(
  session: Session,
  agentId: string,
  folders: readonly string[],
  { dmScope, owners }: Configuration,
  options: ReadOptions,
): ConversationImport | Item {
  const { key, lines, updatedAt } = session;
  const item = (state: Item["state"], why: string): Item => ({ part: "sessions", id: key, state, why });
  const chat = chatOf(key);
  if (lines.length === 0) return item("skipped", "It contains no messages.");
  if (options.since !== undefined && updatedAt < options.since)
    return item("skipped", "It was not active in the chosen time.");
  const isOfGateway = OWN_CHANNELS.includes(chat?.channel ?? "");
  if (isOfGateway && !options.all)
    return item("skipped", `Conversations of ${chat?.channel} cannot be continued. --all keeps it.`);
  const account = options.accounts[`${chat?.channel}/${ACCOUNT}`] ?? ACCOUNT;
  const converted =
    chat === undefined || !CHANNELS.includes(chat.channel)
      ? `Conversations of ${chat?.channel ?? key} cannot be continued.`
      : placeChat(chat, { agentId, account, dmScope });
  const place = keepOnPage(converted, agentId, key, isOfGateway || options.keepUnsupported);
  if (typeof place === "string") return item("unsupported", place);
  const speaker = `${chat?.channel}:${chat?.chatId}`;
  const isDirect = place.kind === "direct" && place === converted;
  const isOwners = isDirect && owners.includes(speaker);
  const load = (): LoadedConversation => {
    const losses = new Set<string>(place === converted ? [] : [KEPT_ON_PAGE]);
    const attachments = createAttachmentFiles({
      sessionKey: place.key,
      workspace: options.inPlace ? undefined : `workspaces/${agentId}`,
      folders,
      mediaFolders: folders.slice(0, 1),
    });
    const taint: ImportedTaint = {
      sources: new Set(isOwners ? [] : (["history"] as const)),
      speakers: new Set(isOwners ? [] : ["unknown"]),
    };
    // A delivered copy of an answer, commands, and events of the gateway itself are no part of the conversation.
    const messages = lines
      .filter(
        (line) =>
          line["_command"] === undefined &&
          line["injected_event"] === undefined &&
          line["_channel_delivery"] === undefined,
      )
      .map((line, index) => ({
        id: String(index),
        role: asText(line["role"]) ?? "",
        content: line["content"],
        toolCalls: line["tool_calls"],
        toolCallId: asText(line["tool_call_id"]),
        toolName: asText(line["name"]),
        at: timeOf(line["timestamp"]) || updatedAt,
        media: line["media"],
      }));
    const generation = convertChatMessages(
      messages,
      {
        id: isDirect ? speaker : undefined,
        name: isDirect ? (chat?.chatId ?? "unknown") : "unknown",
      },
      taint,
      losses,
      attachments,
    );
    return toConversation(place, {
      title: session.title,
      createdAt: session.createdAt,
      updatedAt,
      generations: generation.entries.length === 0 ? [] : [generation],
      taint,
      lastEvent: String(lines.length),
      losses,
      files: attachments.files,
    });
  };
  return { kind: "session", id: key, load };
}

function readJobs(
  dir: string,
  agentId: string,
  { owners, timeZone }: Configuration,
  options: ReadOptions,
): readonly SourceSchedule[] {
  const list = readJson(join(dir, "cron", "jobs.json"))["jobs"];
  return (Array.isArray(list) ? list : []).map((each, index): SourceSchedule => {
    const job = asRecord(each) ?? {};
    const schedule = asRecord(job["schedule"]) ?? {};
    const payload = asRecord(job["payload"]) ?? {};
    const channel = asText(payload["channel"]) ?? asText(payload["originChannel"]);
    const peerId = asText(payload["to"]) ?? asText(payload["originChatId"]);
    const isOwners = channel !== undefined && peerId !== undefined && owners.includes(`${channel}:${peerId}`);
    const expression = toFiveFields(asText(schedule["expr"]) ?? "");
    const when: SourceSchedule["when"] =
      schedule["kind"] === "at" && typeof schedule["atMs"] === "number"
        ? { kind: "at", at: schedule["atMs"] }
        : schedule["kind"] === "every" && typeof schedule["everyMs"] === "number" && schedule["everyMs"] > 0
          ? { kind: "every", everyMs: schedule["everyMs"], from: timeOf(job["createdAtMs"]) }
          : schedule["kind"] === "cron" && expression !== undefined
            ? { kind: "cron", expression, zone: asText(schedule["tz"]) ?? timeZone ?? options.timeZone }
            : undefined;
    return {
      id: asText(job["id"]) ?? `cron[${index}]`,
      agentId,
      text: asText(payload["message"]) ?? "",
      when,
      skipped: job["enabled"] === false ? "It was off." : undefined,
      fault: asText(payload["message"]) === undefined ? "It has no text for the agent." : undefined,
      losses: [],
      to:
        isOwners && payload["deliver"] !== false
          ? { channel, account: options.accounts[`${channel}/${ACCOUNT}`] ?? ACCOUNT, peerId }
          : undefined,
    };
  });
}

const READ = new Set(["config.json", "pairing.json", "sessions", "cron"]);

/** Reports the rest of the folder. */
function listRest(dir: string, workspaceDir: string): readonly Item[] {
  const items: Item[] = readdirSync(dir)
    .toSorted()
    .filter((name) => !READ.has(name) && join(dir, name) !== workspaceDir)
    .map(
      (name): Item =>
        name === "media"
          ? {
              part: "config",
              id: name,
              state: "skipped",
              why: "Attachments of imported conversations are imported with them.",
            }
          : /^(logs?|cache|tmp|.*\.bak)$/.test(name)
            ? { part: "config", id: name, state: "skipped", why: "nanobot creates it again." }
            : { part: "config", id: name, state: "unsupported", why: "Signalbox has no use for it." },
    );
  const cron = join(dir, "cron");
  if (existsSync(join(cron, "action.jsonl")))
    items.push({
      part: "schedules",
      id: "cron/action.jsonl",
      state: "skipped",
      why: "Changes that nanobot has not applied yet. Start it once, then stop it.",
    });
  return items;
}
