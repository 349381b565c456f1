import type { SourceAccount } from "../access.ts";
import { type KnownGroups, mapAccess, toolsLoss } from "../common.ts";
import type { Item } from "../item.ts";
import { createSecretReader, mapSecret } from "../secrets.ts";
import {
  asRecord,
  asTexts,
  createSettingsReader,
  type SettingsReader,
  type SourcePath,
} from "../settings.ts";
import type { PersonImport, ReadOptions, SettingImport } from "../source.ts";

interface Converted {
  readonly imports: readonly (SettingImport | PersonImport)[];
  readonly items: readonly Item[];
  readonly warnings: readonly string[];
  readonly owners: readonly string[];
  readonly hadOthers: boolean;
  readonly dmScope: string;
  readonly timeZone: string | undefined;
}

interface Facts {
  readonly paired: readonly { readonly channel: string; readonly peerId: string }[];
  readonly knownGroups: KnownGroups;
  readonly agentId: string;
}

const API_OF: Readonly<Record<string, string>> = {
  anthropic: "anthropic-messages",
  gemini: "google-generative",
  mistral: "mistral-chat",
};
const NAME_OF: Readonly<Record<string, string>> = { gemini: "google" };
const OAUTH = ["openai_codex", "xai_grok", "github_copilot"];

/** Fields of accounts, by nanobot's name. */
const FIELDS: Readonly<
  Record<string, Readonly<Record<string, { readonly to: string; readonly secret?: true }>>>
> = {
  telegram: { token: { to: "botToken", secret: true } },
  discord: { token: { to: "token", secret: true } },
  slack: { botToken: { to: "botToken", secret: true }, appToken: { to: "appToken", secret: true } },
  feishu: {
    appId: { to: "appId" },
    appSecret: { to: "appSecret", secret: true },
    encryptKey: { to: "encryptKey", secret: true },
    verificationToken: { to: "verificationToken", secret: true },
    domain: { to: "domain" },
  },
};

/** Converts `config.json` of nanobot. */
export function convertConfiguration(root: unknown, facts: Facts, options: ReadOptions): Converted {
  const reader = createSettingsReader(root);
  const secrets = createSecretReader({ env: {}, store: {}, profiles: {} }, options.env);
  const warnings: string[] = [];
  const timeZone = reader.text("agents", "defaults", "timezone");
  const providers = mapProviders(reader, secrets);
  mapAgent(reader, facts.agentId, providers, warnings);
  const accounts = mapChannels(reader, secrets, facts, options);
  const places: SourcePath[] = CHANNEL_NAMES.flatMap((channel) =>
    ["allowFrom", "groupPolicy", "groupAllowFrom"].map((key): SourcePath => ["channels", channel, key]),
  );
  const access = mapAccess(reader, places, accounts, options.owners);
  if (access.owners.length === 0)
    warnings.push(
      "nanobot knows no owners. Name yourself with --owner, for example --owner telegram:5001; otherwise nobody can approve anything in chats.",
    );
  mapTools(reader, secrets);
  const isUnified = reader.get("agents", "defaults", "unifiedSession") === true;
  if (isUnified)
    reader.note(
      ["agents", "defaults", "unifiedSession"],
      "skipped",
      "Each person gets a conversation of their own here (session.dmScope).",
    );
  reader.note(["gateway", "port"], "skipped", "Address of this gateway stays as it is.");
  reader.note(["gateway", "host"], "skipped", "Address of this gateway stays as it is.");
  const { imports, items } = reader.finish();
  return {
    imports: [...imports, ...access.people],
    items: [...items, ...access.items],
    warnings: [...warnings, ...access.warnings],
    owners: access.owners,
    hadOthers: access.hadOthers,
    dmScope: "per-channel-peer",
    timeZone,
  };
}

const CHANNEL_NAMES = Object.keys(FIELDS);

type Secrets = ReturnType<typeof createSecretReader>;

/** @returns the unit of each usable provider, by nanobot's name */
function mapProviders(reader: SettingsReader, secrets: Secrets): ReadonlyMap<string, string> {
  const usable = new Map<string, string>();
  for (const theirs of reader.keys("providers")) {
    const at: SourcePath = ["providers", theirs];
    const name = NAME_OF[theirs] ?? theirs.replaceAll("_", "-");
    if (OAUTH.includes(theirs)) {
      reader.note(at, "unsupported", "The login of a subscription. Set an API key.");
      continue;
    }
    const baseUrl = reader.text(...at, "apiBase");
    if (reader.text(...at, "apiKey") === undefined && baseUrl === undefined) {
      reader.note(at, "skipped", "It has no key.");
      continue;
    }
    const api =
      API_OF[theirs] ??
      (theirs === "openai" && reader.text(...at, "apiType") !== "chat" ? "openai-responses" : "openai-chat");
    if (api === "openai-chat" && theirs !== "openai" && baseUrl === undefined) {
      reader.note(at, "unsupported", "Its address is not in the configuration. Add it to models.providers.");
      continue;
    }
    const unit = `model provider ${name}`;
    usable.set(theirs, unit);
    const to: SettingImport["path"] = ["models", "providers", name];
    reader.map([...at, "apiType"], [...to, "api"], api, { unit });
    if (baseUrl !== undefined) reader.map([...at, "apiBase"], [...to, "baseUrl"], baseUrl, { unit });
    if (reader.has(...at, "apiKey") && reader.text(...at, "apiKey") !== undefined)
      mapSecret(
        reader,
        [...at, "apiKey"],
        [...to, "apiKey"],
        secrets.read(reader.get(...at, "apiKey"), `model-${name}`),
        unit,
      );
    for (const header of reader.keys(...at, "extraHeaders"))
      mapSecret(
        reader,
        [...at, "extraHeaders", header],
        [...to, "headers", header],
        secrets.read(reader.get(...at, "extraHeaders", header), `model-${name}-${header}`),
        unit,
      );
  }
  return usable;
}

function mapAgent(
  reader: SettingsReader,
  agentId: string,
  providers: ReadonlyMap<string, string>,
  warnings: string[],
): void {
  const at: SourcePath = ["agents", "defaults"];
  const to: SettingImport["path"] = ["agents", "list", { id: agentId }];
  reader.map([], [...to, "id"], agentId);
  const convert = (name: string, provider: string | undefined) => {
    const [prefix = "", rest] = name.split(/\/(.*)/s);
    const theirs = provider ?? (rest === undefined ? undefined : prefix);
    const unit = theirs === undefined ? undefined : providers.get(theirs);
    if (theirs === undefined || unit === undefined) return undefined;
    const model = rest !== undefined && prefix === theirs ? rest : name;
    return { name: `${NAME_OF[theirs] ?? theirs.replaceAll("_", "-")}/${model}`, unit };
  };
  const model = reader.text(...at, "model");
  const provider = reader.text(...at, "provider");
  const converted =
    model === undefined ? undefined : convert(model, provider === "auto" ? undefined : provider);
  if (converted !== undefined)
    reader.map(
      [
        [...at, "model"],
        [...at, "provider"],
      ],
      [...to, "model"],
      converted.name,
      { unit: converted.unit },
    );
  else if (model !== undefined) {
    reader.note([...at, "model"], "unsupported", "Its provider is not configured, or cannot be used here.");
    warnings.push(
      `The model ${model} cannot be used here. Set another one, otherwise the offline demo model answers.`,
    );
  }
  const fallbacks = reader.texts(...at, "fallbackModels").flatMap((name) => convert(name, undefined) ?? []);
  if (fallbacks.length > 0)
    reader.map(
      [...at, "fallbackModels"],
      [...to, "fallbacks"],
      fallbacks.map(({ name }) => name),
      { unit: fallbacks[0]?.unit },
    );
  const effort = reader.text(...at, "reasoningEffort");
  const thinking = {
    none: "off",
    minimal: "minimal",
    low: "low",
    medium: "medium",
    high: "high",
    xhigh: "max",
    max: "max",
  }[effort ?? ""];
  if (thinking !== undefined) reader.map([...at, "reasoningEffort"], [...to, "thinking"], thinking);
  for (const [theirs, ours] of [
    ["maxTokens", ["maxOutputTokens"]],
    ["maxToolIterations", ["limits", "turns"]],
    ["maxConcurrentSubagents", ["subagents", "maxAtOnce"]],
  ] as const) {
    const value = reader.number(...at, theirs);
    if (value !== undefined && value > 0) reader.map([...at, theirs], [...to, ...ours], Math.trunc(value));
  }
  const name = reader.text(...at, "botName");
  if (name !== undefined) reader.map([...at, "botName"], [...to, "name"], name);
  reader.note([...at, "workspace"], "skipped", `The folder becomes workspaces/${agentId}.`);
  reader.note([...at, "timezone"], "skipped", "It becomes the zone of schedules.");
  const enabled = reader.get("gateway", "heartbeat", "enabled");
  if (typeof enabled === "boolean")
    reader.map(["gateway", "heartbeat", "enabled"], [...to, "heartbeat", "enabled"], enabled);
  const seconds = reader.number("gateway", "heartbeat", "intervalS");
  if (seconds !== undefined && seconds >= 60)
    reader.map(
      ["gateway", "heartbeat", "intervalS"],
      [...to, "heartbeat", "every"],
      `${Math.round(seconds / 60)}m`,
    );
}

function mapChannels(
  reader: SettingsReader,
  secrets: Secrets,
  facts: Facts,
  options: ReadOptions,
): readonly SourceAccount[] {
  const accounts: SourceAccount[] = [];
  for (const channel of reader.keys("channels")) {
    const at: SourcePath = ["channels", channel];
    const fields = Object.hasOwn(FIELDS, channel) ? FIELDS[channel] : undefined;
    if (asRecord(reader.get(...at)) === undefined) continue;
    if (fields === undefined) {
      reader.note(at, "unsupported", `This command imports no accounts of ${channel}.`);
      continue;
    }
    if (reader.get(...at, "enabled") !== true) {
      reader.note(at, "skipped", "The channel was off.");
      continue;
    }
    reader.note([...at, "enabled"], "skipped", "Channels that are listed are on.");
    if (reader.has(...at, "instances")) {
      reader.note(at, "unsupported", "Several instances of one channel. Configure them as accounts.");
      continue;
    }
    const account = options.accounts[`${channel}/main`] ?? "main";
    const to: SettingImport["path"] = ["channels", channel, "accounts", account];
    const unit = `channel account ${channel}/${account}`;
    for (const [theirs, { to: key, secret }] of Object.entries(fields)) {
      const value = reader.text(...at, theirs);
      if (value === undefined) continue;
      if (secret === undefined) reader.map([...at, theirs], [...to, key], value, { unit });
      else
        mapSecret(
          reader,
          [...at, theirs],
          [...to, key],
          secrets.read(value, `${channel}-${account}-${key}`),
          unit,
        );
    }
    if (channel === "feishu") reader.map([], [...to, "transport"], "socket", { unit });
    const people = asTexts(reader.get(...at, "allowFrom"));
    const policy = reader.text(...at, "groupPolicy") ?? "mention";
    const groups = asTexts(reader.get(...at, "groupAllowFrom"));
    accounts.push({
      channel,
      account,
      dm: people.includes("*") ? "open" : "pairing",
      people,
      paired: facts.paired.filter((each) => each.channel === channel).map(({ peerId }) => peerId),
      groupPeople: people,
      groups: policy === "allowlist" ? new Map(groups.map((id) => [id, {}])) : "any",
      requireMention: policy !== "open",
      knownGroups: [...(facts.knownGroups.get(channel) ?? [])],
    });
  }
  return accounts;
}

function mapTools(reader: SettingsReader, secrets: Secrets): void {
  for (const name of reader.keys("tools", "mcpServers")) {
    const at: SourcePath = ["tools", "mcpServers", name];
    if (reader.has(...at, "auth") || reader.get(...at, "type") === "sse") {
      reader.note(at, "unsupported", "Sign-in and server-sent events of MCP servers.");
      continue;
    }
    if (reader.texts(...at, "enabledTools").some((tool) => tool !== "*")) {
      reader.note(
        at,
        "unsupported",
        "Only some of its tools were enabled. Add the server, and name the tools in tools.allow.",
      );
      continue;
    }
    const ours = name
      .toLowerCase()
      .replace(/[^a-z0-9-]+/g, "-")
      .slice(0, 24);
    const to: SettingImport["path"] = ["mcp", "servers", ours];
    const unit = `MCP server ${ours}`;
    for (const key of ["command", "cwd", "url"]) {
      const value = reader.text(...at, key);
      if (value !== undefined) reader.map([...at, key], [...to, key], value, { unit, loss: toolsLoss(ours) });
    }
    const args = reader.texts(...at, "args");
    if (args.length > 0) reader.map([...at, "args"], [...to, "args"], args, { unit });
    for (const section of ["env", "headers"])
      for (const key of reader.keys(...at, section))
        mapSecret(
          reader,
          [...at, section, key],
          [...to, section, key],
          secrets.read(reader.get(...at, section, key), `mcp-${ours}-${key}`),
          unit,
        );
    const seconds = reader.number(...at, "toolTimeout");
    if (seconds !== undefined && seconds > 0)
      reader.map([...at, "toolTimeout"], [...to, "callMs"], seconds * 1_000, { unit });
  }
  if (reader.get("tools", "exec", "enable") === false)
    reader.map(["tools", "exec", "enable"], ["agents", "defaults", "tools", "deny"], ["exec"]);
  else
    reader.note(
      ["tools", "exec", "enable"],
      "skipped",
      "Agents need `exec` in tools.allow here, and run commands in a sandbox.",
    );
  const seconds = reader.number("tools", "exec", "timeout");
  if (seconds !== undefined && seconds > 0)
    reader.map(["tools", "exec", "timeout"], ["tools", "exec", "timeoutMs"], seconds * 1_000);
  reader.note(["tools", "restrictToWorkspace"], "skipped", "Commands always see only the workspace here.");
  const engine = reader.text("tools", "web", "search", "provider");
  const key = secrets.read(reader.get("tools", "web", "search", "apiKey"), "web-search");
  if (
    (engine === "brave" || engine === "tavily") &&
    reader.text("tools", "web", "search", "apiKey") !== undefined
  ) {
    reader.map(["tools", "web", "search", "provider"], ["tools", "web", "search", "engine"], engine, {
      unit: "web search",
    });
    mapSecret(
      reader,
      ["tools", "web", "search", "apiKey"],
      ["tools", "web", "search", "apiKey"],
      key,
      "web search",
    );
  }
  const disabled = reader.texts("agents", "defaults", "disabledSkills");
  if (disabled.length > 0)
    reader.map(["agents", "defaults", "disabledSkills"], ["agents", "defaults", "skills", "deny"], disabled);
}
