import {
  formatPairing,
  listOtherPairings,
  mergeAccess,
  type SourceAccount,
  toAccessSection,
} from "../access.ts";
import type { Item } from "../item.ts";
import { toolsLoss, toServerName } from "../mcp-servers.ts";
import { toAccountName, toAgentId } from "../names.ts";
import { createSecretReader, mapSecret } from "../secrets.ts";
import { asRecord, createSettingsReader, type SettingsReader, type SourcePath } from "../settings.ts";
import type { PersonImport, ReadOptions, SettingImport } from "../source.ts";
import { mapWebSearch } from "../web-search.ts";
import { readAccounts, stripPrefix } from "./accounts.ts";
import { mapAgents } from "./agents.ts";
import { mapBindings } from "./bindings.ts";
import type { Facts } from "./facts.ts";
import { mapModels } from "./models.ts";

/** The settings of a home, and the people whom they admit. */
export interface Configuration {
  readonly imports: readonly (SettingImport | PersonImport)[];
  readonly items: readonly Item[];
  readonly warnings: readonly string[];
  readonly steps: readonly string[];
  /** Ids of owners here, as `channel:id`. */
  readonly owners: readonly string[];
  /** Groups in which agents answer here, as `channel:id`. */
  readonly groups: ReadonlySet<string>;
  readonly allow: readonly string[];
  readonly dmScope: string;
  readonly timeZone: string | undefined;
  /** True if people other than owners could influence the agents. */
  readonly hadOthers: boolean;
  readonly defaultAgent: string;
}

const CHANNELS = ["telegram", "discord", "slack", "feishu"];

/** Sections that have no meaning outside of OpenClaw. */
const OWN_SECTIONS = ["meta", "wizard", "update", "logging", "diagnostics", "ui", "discovery", "$schema"];

/** Converts `openclaw.json`. Where two rules cannot both be kept, the stricter one is imported. */
export function convertConfiguration(root: unknown, facts: Facts, options: ReadOptions): Configuration {
  const reader = createSettingsReader(root);
  const secrets = createSecretReader(facts.secrets, options.env);
  const warnings: string[] = [];
  const steps: string[] = [];
  for (const section of OWN_SECTIONS) reader.note([section], "skipped", "Meaningful only to OpenClaw.");
  reader.note(["gateway"], "skipped", "Address and token of this gateway stay as they are.");
  reader.note(["agents", "defaults", "skipBootstrap"], "skipped", "Meaningful only to OpenClaw.");

  const timeZone = reader.text("agents", "defaults", "userTimezone") ?? reader.text("userTimezone");
  const providers = mapModels(reader, secrets);
  const agents = mapAgents(reader, {
    options,
    providers,
    timeZone,
    warnings,
    execApprovals: facts.execApprovals,
  });
  const accounts = readAccounts(reader, secrets, { ...facts, options, channels: CHANNELS });
  const access = convertAccess(reader, accounts, facts.paired, options, warnings);
  mapBindings(reader, { accounts, access: access.merged, options, agents: agents.ids });
  const dmScope = mapSessions(reader, facts, timeZone);
  mapMcp(reader, secrets);
  mapWebSearch(reader, ["tools", "web", "search"], secrets);
  mapSkills(reader, secrets);
  mapHooks(reader, secrets, options);
  for (const channel of reader.keys("channels"))
    if (channel !== "defaults" && !CHANNELS.includes(channel) && channel !== "webchat")
      reader.note(
        ["channels", channel],
        "unsupported",
        `Signalbox has no channel ${channel} that this command imports.`,
      );

  const { imports, items } = reader.finish();
  return {
    imports: [...imports, ...access.people],
    items: [...items, ...access.items],
    warnings,
    steps,
    owners: access.merged.owners,
    groups: new Set(access.merged.groups.keys()),
    allow: access.merged.allow,
    dmScope,
    timeZone,
    hadOthers:
      accounts.some(({ dm, people }) => dm === "open" || people.includes("*")) ||
      access.merged.groups.size > 0,
    defaultAgent: agents.defaultId,
  };
}

function convertAccess(
  reader: SettingsReader,
  accounts: readonly SourceAccount[],
  paired: Facts["paired"],
  options: ReadOptions,
  warnings: string[],
) {
  const ownerPaths: SourcePath = ["commands", "ownerAllowFrom"];
  const owners = [...new Set([...reader.texts(...ownerPaths), ...options.owners])];
  const merged = mergeAccess(accounts, owners);
  const historyLimits = [
    reader.number("messages", "groupChat", "historyLimit"),
    ...accounts.map(({ channel }) => reader.number("channels", channel, "historyLimit")),
  ].filter((limit) => limit !== undefined);
  const historyLimit =
    historyLimits.length === 0 ? undefined : Math.min(200, Math.max(0, ...[Math.min(...historyLimits)]));
  const places: SourcePath[] = [
    ownerPaths,
    ["messages", "groupChat", "historyLimit"],
    ["channels", "defaults", "groupPolicy"],
    ["channels", "defaults", "dmPolicy"],
    ...CHANNELS.flatMap((channel) =>
      [[], ...reader.keys("channels", channel, "accounts").map((name) => ["accounts", name])].flatMap(
        (prefix) => ACCESS_KEYS.map((key): SourcePath => ["channels", channel, ...prefix, ...key]),
      ),
    ),
  ];
  const loss =
    accounts.length > 1 || merged.notes.length > 0
      ? "Access is one rule for all accounts here; the stricter rule of the source applies."
      : undefined;
  if (accounts.length > 0 || owners.length > 0)
    reader.map(places, ["access"], toAccessSection(merged, historyLimit), { loss, unit: "access" });
  if (new Set(accounts.map(({ dm }) => dm)).size > 1)
    warnings.push(
      `The accounts of the source answer direct messages by different rules. access.dm is ${merged.dm} for all of them, which may lock people out.`,
    );
  if (accounts.length > 0 && owners.length === 0)
    warnings.push(
      "commands.ownerAllowFrom names no owner. Name yourself with --owner, for example --owner telegram:5001; otherwise nobody can approve anything in chats.",
    );
  for (const { id, why } of merged.notes) warnings.push(`${id} is not admitted: ${why}`);
  return {
    merged,
    people: merged.pairings.map(
      (person): PersonImport => ({
        kind: "person",
        id: formatPairing(person),
        ...person,
      }),
    ),
    items: [
      ...merged.notes.map(({ id, why }): Item => ({ part: "people", id, state: "skipped", why })),
      ...listOtherPairings(
        paired.map(({ channel, account, peerId }) => ({
          channel,
          account: toAccountName(channel, account, options),
          peerId: stripPrefix(peerId, channel),
        })),
        accounts,
        merged,
      ),
    ],
  };
}

/** Keys of a channel or an account that say who may talk to the agent. */
const ACCESS_KEYS: readonly SourcePath[] = [
  ["dmPolicy"],
  ["dm", "policy"],
  ["dm", "allowFrom"],
  ["allowFrom"],
  ["groupPolicy"],
  ["groupAllowFrom"],
  ["groups"],
  ["guilds"],
  ["channels"],
  ["requireMention"],
  ["historyLimit"],
];

/** @returns the scope of direct messages */
function mapSessions(reader: SettingsReader, facts: Facts, timeZone: string | undefined): string {
  const theirs = reader.text("session", "dmScope") ?? "main";
  const scope = theirs === "main" && facts.severalPeople ? "per-channel-peer" : theirs;
  reader.map(["session", "dmScope"], ["session", "dmScope"], scope, {
    loss:
      scope === theirs
        ? undefined
        : "Several people share the main conversation. Each of them gets a conversation of their own here.",
  });
  const links = asRecord(reader.get("session", "identityLinks"));
  if (links !== undefined) reader.map(["session", "identityLinks"], ["session", "identityLinks"], links);
  const reset = convertReset(asRecord(reader.get("session", "reset")), timeZone);
  if (reset !== undefined) reader.map(["session", "reset"], ["session", "reset", "default"], reset);
  for (const type of ["direct", "group"]) {
    const own = convertReset(asRecord(reader.get("session", "resetByType", type)), timeZone);
    if (own !== undefined) reader.map(["session", "resetByType", type], ["session", "reset", type], own);
  }
  const mode = reader.text("messages", "queue", "mode");
  if (mode !== undefined && ["steer", "followup", "collect", "interrupt"].includes(mode))
    reader.map(["messages", "queue", "mode"], ["session", "queue", "mode"], mode);
  const cap = reader.number("messages", "queue", "cap");
  if (cap !== undefined) reader.map(["messages", "queue", "cap"], ["session", "queue", "cap"], cap);
  const drop = reader.text("messages", "queue", "drop");
  if (drop !== undefined)
    reader.map(
      ["messages", "queue", "drop"],
      ["session", "queue", "drop"],
      drop === "summarize" ? "summarise" : drop,
    );
  const debounceMs =
    reader.number("messages", "inbound", "debounceMs") ?? reader.number("messages", "queue", "debounceMs");
  if (debounceMs !== undefined)
    reader.map(
      [
        ["messages", "inbound", "debounceMs"],
        ["messages", "queue", "debounceMs"],
      ],
      ["session", "queue", "debounceMs"],
      debounceMs,
    );
  reader.note(
    ["session", "maintenance"],
    "skipped",
    "It deletes conversations. Set `retention` yourself if you want that.",
  );
  return scope;
}

function convertReset(
  reset: Readonly<Record<string, unknown>> | undefined,
  timeZone: string | undefined,
): Record<string, unknown> | undefined {
  const minutes = reset?.["idleMinutes"];
  const hour = reset?.["atHour"];
  if (reset?.["mode"] === "daily")
    return {
      mode: "daily",
      ...(typeof hour === "number" ? { hour } : {}),
      ...(timeZone === undefined ? {} : { timeZone }),
    };
  return reset?.["mode"] === "idle" && typeof minutes === "number" ? { mode: "idle", minutes } : undefined;
}

type Secrets = ReturnType<typeof createSecretReader>;

function mapMcp(reader: SettingsReader, secrets: Secrets): void {
  for (const name of reader.keys("mcp", "servers")) {
    const at: SourcePath = ["mcp", "servers", name];
    const server = asRecord(reader.get(...at)) ?? {};
    if (server["enabled"] === false) {
      reader.note(at, "skipped", "It was off.");
      continue;
    }
    if (server["auth"] === "oauth" || server["transport"] === "sse" || server["clientCert"] !== undefined) {
      reader.note(at, "unsupported", "Sign-in, server-sent events and client certificates of MCP servers.");
      continue;
    }
    const to: SettingImport["path"] = ["mcp", "servers", toServerName(name)];
    const unit = `MCP server ${name}`;
    for (const key of ["command", "args", "cwd", "url"])
      if (server[key] !== undefined)
        reader.map([...at, key], [...to, key], server[key], {
          unit,
          loss: key === "command" || key === "url" ? toolsLoss(toServerName(name)) : undefined,
        });
    for (const section of ["env", "headers"])
      for (const key of reader.keys(...at, section)) {
        const value = secrets.read(reader.get(...at, section, key), `mcp-${name}-${key}`);
        mapSecret(reader, [...at, section, key], [...to, section, key], value, unit);
      }
    const start = reader.number(...at, "connectionTimeoutMs");
    if (start !== undefined) reader.map([...at, "connectionTimeoutMs"], [...to, "startMs"], start, { unit });
    const call = reader.number(...at, "requestTimeoutMs");
    if (call !== undefined) reader.map([...at, "requestTimeoutMs"], [...to, "callMs"], call, { unit });
    reader.note([...at, "enabled"], "skipped", "MCP servers that are listed are on.");
  }
}

function mapSkills(reader: SettingsReader, secrets: Secrets): void {
  for (const name of reader.keys("skills", "entries")) {
    const at: SourcePath = ["skills", "entries", name];
    const to: SettingImport["path"] = ["skills", "entries", name];
    const enabled = reader.get(...at, "enabled");
    if (typeof enabled === "boolean") reader.map([...at, "enabled"], [...to, "enabled"], enabled);
    for (const key of reader.keys(...at, "env"))
      mapSecret(
        reader,
        [...at, "env", key],
        [...to, "env", key],
        secrets.read(reader.get(...at, "env", key), `skill-${name}-${key}`),
        `skill ${name} ${key}`,
      );
    if (reader.has(...at, "apiKey"))
      mapSecret(
        reader,
        [...at, "apiKey"],
        [...to, "apiKey"],
        secrets.read(reader.get(...at, "apiKey"), `skill-${name}`),
        `skill ${name}`,
      );
  }
  const dirs = reader.texts("skills", "load", "extraDirs");
  if (dirs.length > 0)
    reader.note(
      ["skills", "load", "extraDirs"],
      "skipped",
      "Skills in other folders would be approved at once. Add the folder to skills.load.extraDirs after reading them.",
    );
}

function mapHooks(reader: SettingsReader, secrets: Secrets, options: ReadOptions): void {
  const mappings = reader.get("hooks", "mappings");
  const token = secrets.read(reader.get("hooks", "token"), "hooks-token");
  for (const [index] of (Array.isArray(mappings) ? mappings : []).entries()) {
    const at: SourcePath = ["hooks", "mappings", index];
    const id = reader.text(...at, "id") ?? reader.text(...at, "match", "path");
    const action = reader.text(...at, "action") ?? "agent";
    const isPlain =
      action === "agent" &&
      id !== undefined &&
      /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(id) &&
      !["transform", "deliver", "channel", "to"].some((key) => reader.has(...at, key));
    if (!isPlain) {
      reader.note(
        at,
        "unsupported",
        "Only hooks that pass a text to an agent, without a transformation or a delivery.",
      );
      continue;
    }
    const to: SettingImport["path"] = ["hooks", id];
    const unit = `hook ${id}`;
    reader.note([...at, "id"], "skipped", `Its address here is /hooks/${id}.`);
    reader.note([...at, "match"], "skipped", `Its address here is /hooks/${id}. Change the callers.`);
    reader.note([...at, "action"], "skipped", "Hooks always pass a text to an agent here.");
    const agent = reader.text(...at, "agentId");
    if (agent !== undefined)
      reader.map([...at, "agentId"], [...to, "agent"], toAgentId(agent, options), { unit });
    for (const [theirs, ours] of [
      ["sessionKey", "session"],
      ["messageTemplate", "text"],
    ] as const) {
      const text = reader.text(...at, theirs);
      if (text !== undefined) reader.map([...at, theirs], [...to, ours], text, { unit });
    }
    if (token.kind === "secret" && token.value.length >= 16)
      reader.map([], [...to, "secret"], undefined, {
        unit,
        secret: { name: `hook-${id}`, value: token.value },
      });
  }
  if (reader.has("hooks", "token"))
    reader.note(["hooks", "token"], "skipped", "Each imported hook has it as its own secret.");
}
