import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { reasonOf } from "@signalbox/agent-core";
import { GatewayError } from "@signalbox/home";
import { parse } from "yaml";
import { type ChatMessage, convertChatMessages } from "../chat-messages.ts";
import { CHANNELS, type Chat, placeChat } from "../chats.ts";
import type { KnownGroups } from "../common.ts";
import { toConversation } from "../conversations.ts";
import { createDatabaseCopies, type DatabaseCopies, type SourceDatabase } from "../database-copy.ts";
import { readEnvironmentFile } from "../files.ts";
import type { Item } from "../item.ts";
import type { ImportedTaint } from "../messages.ts";
import { toAgentId } from "../names.ts";
import { parseRecord } from "../records.ts";
import { convertSchedules, type SourceSchedule, toFiveFields } from "../schedules.ts";
import { asRecord, asText, asTexts, createSettingsReader } from "../settings.ts";
import type {
  FileImport,
  Import,
  LoadedConversation,
  ReadOptions,
  SkillImport,
  SourceHome,
} from "../source.ts";
import { listTree } from "../tree.ts";
import { convertConfiguration } from "./configuration.ts";

/** Newest known version of the configuration. */
const CONFIG_VERSION = 50;
const ACCOUNT = "main";
const PORT = 8_642;

/** A session of `state.db` with the sessions that it continues, oldest first. */
interface Chain {
  readonly id: string;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly chat: Chat | undefined;
  readonly source: string;
}

/** Reads a home of Hermes. @throws GatewayError if the folder is no home */
export async function readHermes(options: ReadOptions): Promise<SourceHome> {
  const dir = resolve(options.dir);
  if (!["config.yaml", "state.db", "SOUL.md"].some((name) => existsSync(join(dir, name))))
    throw new GatewayError("usage", `${dir} is no home of Hermes: it contains no config.yaml.`);
  const copies = createDatabaseCopies();
  try {
    return readHome(dir, options, copies);
  } catch (error) {
    copies.close();
    throw error;
  }
}

function readHome(dir: string, options: ReadOptions, copies: DatabaseCopies): SourceHome {
  const items: Item[] = [];
  const agentId = options.agents["main"] ?? toAgentId("main", options);
  const root = readConfiguration(join(dir, "config.yaml"));
  const version = createSettingsReader(root).number("_config_version") ?? 0;
  const warnings: string[] = [];
  const isKnown = version <= CONFIG_VERSION;
  if (!isKnown)
    warnings.push(
      `The configuration was written by a newer Hermes (version ${version}, ${CONFIG_VERSION} is known). It is not read.`,
    );
  if (!isKnown)
    items.push({
      part: "config",
      id: "config.yaml",
      state: "unsupported",
      why: "It was written by a newer Hermes.",
    });
  const database = existsSync(join(dir, "state.db")) ? copies.open(join(dir, "state.db")) : undefined;
  const chains = database === undefined ? [] : readChains(database, items);
  const paired = readPaired(dir, items);
  const configuration = convertConfiguration(
    isKnown ? root : {},
    { env: readEnvironmentFile(join(dir, ".env")), paired, knownGroups: listGroups(chains), agentId },
    options,
  );
  items.push(...configuration.items);
  const imports: Import[] = [...configuration.imports];
  for (const chain of chains) {
    const converted = convertChain(chain, database, agentId, configuration, options);
    if (converted.import !== undefined) imports.push(converted.import);
    items.push(...converted.items);
  }
  const jobs = convertSchedules(readJobs(dir, agentId, configuration, options), {
    now: options.now,
    dmScope: "per-channel-peer",
    skipMissed: false,
  });
  imports.push(...jobs.imports);
  items.push(...jobs.items);
  imports.push(...readFiles(dir, agentId, configuration.hadOthers && !options.trustMemory));
  const skills = readSkills(dir);
  imports.push(...skills.imports);
  items.push(...skills.items, ...listRest(dir));
  return {
    system: "hermes",
    dir,
    imports,
    items,
    warnings: [...warnings, ...configuration.warnings],
    steps: configuration.steps,
    port: PORT,
    close: () => copies.close(),
  };
}

function readConfiguration(file: string): unknown {
  if (!existsSync(file)) return {};
  try {
    return parse(readFileSync(file, "utf8"), { maxAliasCount: 100 }) ?? {};
  } catch (error) {
    // The message of the parser could quote a secret.
    throw new GatewayError("failure", `${file} is not valid YAML. Correct it.`, { cause: error });
  }
}

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
function readChains(database: SourceDatabase, items: Item[]): readonly Chain[] {
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

function listGroups(chains: readonly Chain[]): KnownGroups {
  const groups = new Map<string, Set<string>>();
  for (const { chat } of chains)
    if (chat?.kind === "group")
      groups.set(chat.channel, (groups.get(chat.channel) ?? new Set()).add(chat.chatId));
  return groups;
}

type Configuration = ReturnType<typeof convertConfiguration>;

function convertChain(
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
  if (chat === undefined || !CHANNELS.includes(chat.channel))
    return leaveOut(
      ["cli", "cron", "api", "acp"].includes(source) ? "skipped" : "unsupported",
      `Conversations of ${source || "this source"} cannot be continued.`,
    );
  if (options.since !== undefined && updatedAt < options.since)
    return leaveOut("skipped", "It was not active in the chosen time.");
  const account = options.accounts[`${chat.channel}/${ACCOUNT}`] ?? ACCOUNT;
  const place = placeChat(chat, { agentId, account, dmScope: "per-channel-peer" });
  if (typeof place === "string") return leaveOut("unsupported", place);
  const speaker = `${chat.channel}:${chat.chatId}`;
  const isOwners = place.kind === "direct" && owners.includes(speaker);
  const load = (): LoadedConversation => {
    const losses = new Set<string>();
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
        speakers: new Set(isOwners ? [] : [place.kind === "direct" ? speaker : "unknown"]),
      };
      const generation = convertChatMessages(
        messages,
        {
          id: place.kind === "direct" ? speaker : undefined,
          name: asText(row["display_name"]) ?? chat.chatId,
        },
        taint,
        losses,
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
    }));
}

/** Converts seconds with fractions to milliseconds. */
function millis(seconds: unknown): number {
  return typeof seconds === "number" && Number.isFinite(seconds) ? Math.round(seconds * 1_000) : 0;
}

function readPaired(
  dir: string,
  items: Item[],
): readonly { readonly channel: string; readonly peerId: string }[] {
  return ["pairing", "platforms/pairing"].flatMap((folder) => {
    const place = join(dir, folder);
    if (!existsSync(place)) return [];
    return readdirSync(place).flatMap((name) => {
      const channel = /^(.+)-approved\.json$/.exec(name)?.[1];
      if (channel === undefined) {
        items.push({
          part: "people",
          id: `${folder}/${name}`,
          state: "skipped",
          why: "Requests that nobody approved.",
        });
        return [];
      }
      return Object.keys(parseRecord(readFileSync(join(place, name), "utf8"))).map((peerId) => ({
        channel,
        peerId,
      }));
    });
  });
}

function readJobs(
  dir: string,
  agentId: string,
  { owners, timeZone }: Configuration,
  options: ReadOptions,
): readonly SourceSchedule[] {
  const file = join(dir, "cron", "jobs.json");
  if (!existsSync(file)) return [];
  const text = readFileSync(file, "utf8");
  const list = text.trimStart().startsWith("[")
    ? parseRecord(`{"jobs":${text}}`)["jobs"]
    : parseRecord(text)["jobs"];
  return (Array.isArray(list) ? list : []).map((each, index): SourceSchedule => {
    const job = asRecord(each) ?? {};
    const schedule = asRecord(job["schedule"]) ?? {};
    const origin = asRecord(job["origin"]);
    const deliver = asText(job["deliver"]) ?? "origin";
    const [channel, peerId] =
      deliver === "origin" ? [asText(origin?.["platform"]), asText(origin?.["chat_id"])] : deliver.split(":");
    const isOwners = channel !== undefined && peerId !== undefined && owners.includes(`${channel}:${peerId}`);
    const skills = asTexts(job["skills"]);
    const left = Number(asRecord(job["repeat"])?.["times"] ?? 0);
    const minutes = Number(schedule["interval"] ?? schedule["minutes"]);
    const expression = toFiveFields(asText(schedule["expr"]) ?? asText(schedule["cron"]) ?? "");
    const at = Date.parse(asText(schedule["run_at"]) ?? "");
    const when: SourceSchedule["when"] =
      schedule["kind"] === "once" && Number.isFinite(at)
        ? { kind: "at", at }
        : schedule["kind"] === "interval" && minutes > 0
          ? { kind: "every", everyMs: minutes * 60_000, from: 0 }
          : schedule["kind"] === "cron" && expression !== undefined
            ? { kind: "cron", expression, zone: timeZone ?? options.timeZone }
            : undefined;
    const prompt = asText(job["prompt"]) ?? "";
    return {
      id: asText(job["id"]) ?? `cron[${index}]`,
      agentId,
      text: [...skills.map((skill) => `Use the skill ${skill}.`), prompt].join("\n"),
      when,
      skipped: job["enabled"] === false || job["state"] === "paused" ? "It was off." : undefined,
      fault:
        prompt === ""
          ? "It has no text for the agent."
          : job["script"] != null || job["no_agent"] === true
            ? "It runs a script."
            : schedule["kind"] !== "once" && left > 0
              ? "It ends after a number of runs."
              : asTexts(job["enabled_toolsets"]).length > 0
                ? "It had fewer tools than its agent."
                : undefined,
      losses: [job["model"], job["provider"]].some((value) => asText(value) !== undefined)
        ? ["Its own model is lost."]
        : [],
      to: isOwners
        ? { channel, account: options.accounts[`${channel}/${ACCOUNT}`] ?? ACCOUNT, peerId }
        : undefined,
    };
  });
}

/** Returns the files of the agent, and its memory as lists. */
function readFiles(dir: string, agentId: string, isUntrusted: boolean): readonly FileImport[] {
  const files: FileImport[] = [];
  for (const name of ["SOUL.md", "AGENTS.md"])
    if (existsSync(join(dir, name)))
      files.push({
        kind: "file",
        part: "workspaces",
        id: name,
        content: { path: join(dir, name) },
        to: `workspaces/${agentId}/${name}`,
      });
  for (const [name, to] of [
    ["MEMORY.md", "memory/MEMORY.md"],
    ["USER.md", "USER.md"],
  ] as const) {
    const file = join(dir, "memories", name);
    if (!existsSync(file)) continue;
    const mark = isUntrusted && name === "MEMORY.md" ? ' <!-- memory {"untrusted":"other"} -->' : "";
    const entries = readFileSync(file, "utf8")
      .split(/^§\s*$/m)
      .map((entry) => entry.trim().replace(/\s+/g, " ").replaceAll("<!-- memory", "&lt;!-- memory"))
      .filter((entry) => entry !== "");
    files.push({
      kind: "file",
      part: "memory",
      id: `memories/${name}`,
      content: { text: `${entries.map((entry) => `- ${entry}${mark}`).join("\n")}\n` },
      to: `workspaces/${agentId}/${to}`,
      loss:
        mark === ""
          ? undefined
          : "Others could talk to the agent, so its notes count as untrusted (--trust-memory).",
    });
  }
  return files;
}

/** Returns the skills in `skills/<category>/<name>`. Those that came with Hermes are left out. */
function readSkills(dir: string): {
  readonly imports: readonly SkillImport[];
  readonly items: readonly Item[];
} {
  const root = join(dir, "skills");
  if (!existsSync(root)) return { imports: [], items: [] };
  const manifest = ["manifest.json", ".bundled_manifest", ".manifest.json"]
    .map((name) => join(root, name))
    .find((file) => existsSync(file));
  const bundled = manifest === undefined ? "" : readFileSync(manifest, "utf8");
  const folders = new Map<string, Map<string, string>>();
  const items: Item[] = [];
  const tree = listTree(root);
  const skillDirs = tree.flatMap(({ path }) =>
    /\/SKILL\.md$/.test(path) ? [path.slice(0, -"/SKILL.md".length)] : [],
  );
  for (const { path, file, leftOut } of tree) {
    const folder = skillDirs.find((each) => path.startsWith(`${each}/`));
    if (folder === undefined || leftOut !== undefined) {
      items.push({
        part: "skills",
        id: `skills/${path}`,
        state: "skipped",
        why: leftOut ?? "Not a part of a skill.",
      });
      continue;
    }
    const files = folders.get(folder) ?? new Map<string, string>();
    files.set(path.slice(folder.length + 1), file);
    folders.set(folder, files);
  }
  const names = [...folders.keys()].map((folder) => folder.split("/").at(-1) ?? "");
  const imports: SkillImport[] = [];
  for (const [folder, files] of folders) {
    const name = folder.split("/").at(-1) ?? "";
    const id = `skills/${folder}`;
    if (new RegExp(`(^|[^\\w-])${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}([^\\w-]|$)`, "m").test(bundled))
      items.push({ part: "skills", id, state: "skipped", why: "It came with Hermes." });
    else
      imports.push({
        kind: "skill",
        id,
        files,
        to: `skills/${names.filter((each) => each === name).length > 1 ? folder.replaceAll("/", "-") : name}`,
      });
  }
  return { imports, items };
}

const READ = new Set([
  "config.yaml",
  ".env",
  "state.db",
  "state.db-wal",
  "state.db-shm",
  "SOUL.md",
  "AGENTS.md",
  "skills",
  "pairing",
]);
const RECREATED =
  /^(logs?|cache|tmp|bin|node|checkpoints|sandboxes|image_cache|audio_cache|document_cache|.*\.(bak|log|pid|lock))$/;

/** Reports the rest of the folder. */
function listRest(dir: string): readonly Item[] {
  const items: Item[] = [];
  const add = (id: string, state: Item["state"], why: string): void =>
    void items.push({ part: "config", id, state, why });
  for (const name of readdirSync(dir).toSorted()) {
    if (READ.has(name)) continue;
    if (RECREATED.test(name)) add(name, "skipped", "Hermes creates it again.");
    else if (name === "profiles")
      for (const profile of readdirSync(join(dir, name)))
        add(
          `profiles/${profile}`,
          "unsupported",
          `A whole home. Import it with \`signalbox import hermes ${join(dir, name, profile)} --agent main=${profile}\`.`,
        );
    else if (name === "memories" || name === "cron" || name === "platforms") {
      for (const entry of readSafely(join(dir, name)))
        if (!["MEMORY.md", "USER.md", "jobs.json", "pairing"].includes(entry))
          add(
            `${name}/${entry}`,
            name === "cron" ? "skipped" : "unsupported",
            name === "cron" ? "What ran." : "Signalbox has no use for it.",
          );
    } else if (name === "auth.json") add(name, "unsupported", "Logins. Sign in again, or set API keys.");
    else
      add(
        name,
        "unsupported",
        name === "hooks" || name === "plugins"
          ? "Code of hooks and plugins."
          : "Signalbox has no use for it.",
      );
  }
  return items;
}

function readSafely(dir: string): readonly string[] {
  try {
    return statSync(dir).isDirectory() ? readdirSync(dir) : [];
  } catch (error) {
    throw new GatewayError("failure", `${dir} cannot be read: ${reasonOf(error)}.`, { cause: error });
  }
}
