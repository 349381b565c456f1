import type { SourceAccount } from "../access.ts";
import { CHANNELS } from "../chats.ts";
import { type KnownGroups, mapAccess } from "../common.ts";
import type { Item } from "../item.ts";
import { mapMcpServer, toServerName } from "../mcp-servers.ts";
import { createSecretReader, mapSecret } from "../secrets.ts";
import { asTexts, createSettingsReader, type SettingsReader, type SourcePath } from "../settings.ts";
import type { PersonImport, ReadOptions, SettingImport } from "../source.ts";

/** Account of each channel here. */
export const ACCOUNT = "main";

/** The settings of a home, and the people whom they admit. */
export interface Configuration {
  readonly imports: readonly (SettingImport | PersonImport)[];
  readonly items: readonly Item[];
  readonly warnings: readonly string[];
  readonly steps: readonly string[];
  readonly owners: readonly string[];
  readonly hadOthers: boolean;
  readonly timeZone: string | undefined;
}

interface Facts {
  readonly env: Readonly<Record<string, string>>;
  readonly paired: readonly { readonly channel: string; readonly peerId: string }[];
  readonly knownGroups: KnownGroups;
  readonly agentId: string;
}

/** Variables of `.env` with the tokens of accounts. */
const TOKENS: Readonly<
  Record<string, Readonly<Record<string, { readonly to: string; readonly secret?: true }>>>
> = {
  telegram: { TELEGRAM_BOT_TOKEN: { to: "botToken", secret: true } },
  discord: { DISCORD_BOT_TOKEN: { to: "token", secret: true } },
  slack: {
    SLACK_BOT_TOKEN: { to: "botToken", secret: true },
    SLACK_APP_TOKEN: { to: "appToken", secret: true },
  },
  feishu: { FEISHU_APP_ID: { to: "appId" }, FEISHU_APP_SECRET: { to: "appSecret", secret: true } },
};

/** Model providers with a key in `.env` that both systems know. */
const KEYS: Readonly<Record<string, { readonly name: string; readonly api: string }>> = {
  ANTHROPIC_API_KEY: { name: "anthropic", api: "anthropic-messages" },
  OPENAI_API_KEY: { name: "openai", api: "openai-responses" },
  GEMINI_API_KEY: { name: "google", api: "google-generative" },
  MISTRAL_API_KEY: { name: "mistral", api: "mistral-chat" },
};

const APIS: Readonly<Record<string, string>> = {
  chat_completions: "openai-chat",
  anthropic_messages: "anthropic-messages",
  codex_responses: "openai-responses",
};

/** Converts `config.yaml` and `.env` of Hermes. Variables of `.env` are items with the prefix `.env`. */
export function convertConfiguration(
  configuration: unknown,
  facts: Facts,
  options: ReadOptions,
): Configuration {
  const root =
    typeof configuration === "object" && configuration !== null && !Array.isArray(configuration)
      ? { ...configuration, ".env": facts.env }
      : { ".env": facts.env };
  const reader = createSettingsReader(root);
  const secrets = createSecretReader({ env: facts.env, store: {}, profiles: {} }, options.env);
  const warnings: string[] = [];
  const steps: string[] = [];
  reader.note(["_config_version"], "skipped", "Meaningful only to Hermes.");
  const timeZone = reader.text("timezone");
  reader.note(["timezone"], "skipped", "It becomes the zone of schedules.");
  mapModels(reader, secrets, facts, warnings);
  mapAgent(reader, facts.agentId);
  const accounts = mapAccounts(reader, secrets, facts, options, steps);
  const places: SourcePath[] = [
    [".env", "GATEWAY_ALLOWED_USERS"],
    ...CHANNELS.flatMap((channel): SourcePath[] => [
      [".env", `${channel.toUpperCase()}_ALLOWED_USERS`],
      ["platforms", channel, "extra", "allow_from"],
    ]),
  ];
  const access = mapAccess(reader, places, accounts, options.owners, facts.paired);
  if (access.owners.length === 0)
    warnings.push(
      "Hermes knows no owners. Name yourself with --owner, for example --owner telegram:5001; otherwise nobody can approve anything in chats.",
    );
  if (reader.has(".env", "GATEWAY_ALLOW_ALL_USERS")) {
    warnings.push(
      "GATEWAY_ALLOW_ALL_USERS is not imported: everyone else needs a pairing here. Set access.dm: open if you want that.",
    );
    reader.note([".env", "GATEWAY_ALLOW_ALL_USERS"], "unsupported", "Access for everyone is never imported.");
  }
  mapMcp(reader, secrets);
  const mode = { interrupt: "interrupt", queue: "followup", steer: "steer" }[
    reader.text("display", "busy_input_mode") ?? ""
  ];
  if (mode !== undefined) reader.map(["display", "busy_input_mode"], ["session", "queue", "mode"], mode);
  const approvals = reader.text("approvals", "mode");
  if (approvals !== undefined)
    reader.map(
      ["approvals", "mode"],
      ["agents", "defaults", "tools", "ask", "exec"],
      approvals === "off" ? "tainted" : "unlisted",
    );
  reader.note(
    ["command_allowlist"],
    "unsupported",
    "It contains patterns of dangerous commands, not commands.",
  );
  const { imports, items } = reader.finish();
  return {
    imports: [...imports, ...access.people],
    items: [...items, ...access.items],
    warnings: [...warnings, ...access.warnings],
    steps,
    owners: access.owners,
    hadOthers: access.hadOthers,
    timeZone,
  };
}

type Secrets = ReturnType<typeof createSecretReader>;

function mapModels(reader: SettingsReader, secrets: Secrets, { agentId }: Facts, warnings: string[]): void {
  const units = new Map<string, string>();
  for (const [variable, { name, api }] of Object.entries(KEYS)) {
    const value = reader.text(".env", variable);
    if (value === undefined) continue;
    const unit = `model provider ${name}`;
    units.set(name, unit);
    reader.map([], ["models", "providers", name, "api"], api, { unit });
    mapSecret(
      reader,
      [".env", variable],
      ["models", "providers", name, "apiKey"],
      secrets.read(value, `model-${name}`),
      unit,
    );
  }
  for (const section of ["providers", "custom_providers"])
    for (const key of listEntries(reader, section)) {
      const at: SourcePath = [section, key];
      const name = typeof key === "string" ? key : (reader.text(...at, "name") ?? `custom-${key + 1}`);
      const baseUrl = reader.text(...at, "base_url");
      const api = APIS[reader.text(...at, "api_mode") ?? "chat_completions"];
      if (baseUrl === undefined || api === undefined) {
        reader.note(at, "unsupported", "Its address or API is not known.");
        continue;
      }
      const unit = `model provider ${name}`;
      const to: SettingImport["path"] = ["models", "providers", name];
      units.set(name, unit);
      reader.map([...at, "api_mode"], [...to, "api"], api, { unit });
      reader.map([...at, "base_url"], [...to, "baseUrl"], baseUrl, { unit });
      const variable = reader.text(...at, "key_env");
      const value = reader.text(...at, "api_key") ?? (variable === undefined ? undefined : `\${${variable}}`);
      if (value !== undefined)
        mapSecret(
          reader,
          variable === undefined ? [...at, "api_key"] : [...at, "key_env"],
          [...to, "apiKey"],
          secrets.read(value, `model-${name}`),
          unit,
        );
      reader.note([...at, "name"], "skipped", "It names the provider.");
    }
  const isText = typeof reader.get("model") === "string";
  const modelPath: SourcePath = isText ? ["model"] : ["model", "default"];
  const model = reader.text(...modelPath);
  if (model === undefined) return;
  const provider = isText ? undefined : reader.text("model", "provider");
  const baseUrl = isText ? undefined : reader.text("model", "base_url");
  const prefix = model.includes("/") ? model.split("/", 1)[0] : undefined;
  let name = [provider, prefix].find((each) => each !== undefined && units.has(each));
  if (name === undefined && baseUrl !== undefined) {
    name = provider ?? "custom";
    const unit = `model provider ${name}`;
    units.set(name, unit);
    reader.map(
      ["model", "api_mode"],
      ["models", "providers", name, "api"],
      APIS[reader.text("model", "api_mode") ?? "chat_completions"] ?? "openai-chat",
      { unit },
    );
    reader.map(["model", "base_url"], ["models", "providers", name, "baseUrl"], baseUrl, { unit });
    if (reader.has("model", "api_key"))
      mapSecret(
        reader,
        ["model", "api_key"],
        ["models", "providers", name, "apiKey"],
        secrets.read(reader.get("model", "api_key"), `model-${name}`),
        unit,
      );
  }
  if (name === undefined) {
    reader.note(modelPath, "unsupported", "Its provider is not configured, or cannot be used here.");
    warnings.push(
      `The model ${model} cannot be used here. Set another one, otherwise the offline demo model answers.`,
    );
    return;
  }
  mapFallbacks(reader, units, agentId);
  const written = prefix === name ? model : `${name}/${model}`;
  reader.map(
    isText ? [modelPath] : [modelPath, ["model", "provider"]],
    ["agents", "list", { id: agentId }, "model"],
    written,
    { unit: units.get(name) },
  );
}

/** Converts the models that are used if the first one fails. */
function mapFallbacks(reader: SettingsReader, units: ReadonlyMap<string, string>, agentId: string): void {
  const usable = listEntries(reader, "fallback_providers").flatMap((key) => {
    const at: SourcePath = ["fallback_providers", key];
    const provider = reader.text(...at, "provider");
    const model = reader.text(...at, "model");
    return provider !== undefined && model !== undefined && units.has(provider)
      ? [{ at, name: `${provider}/${model}`, unit: units.get(provider) }]
      : [];
  });
  if (usable.length > 0)
    reader.map(
      usable.map(({ at }) => at),
      ["agents", "list", { id: agentId }, "fallbacks"],
      usable.map(({ name }) => name),
      { unit: usable[0]?.unit },
    );
}

function listEntries(reader: SettingsReader, section: string): readonly (string | number)[] {
  const value = reader.get(section);
  return Array.isArray(value) ? [...value.keys()] : reader.keys(section);
}

function mapAgent(reader: SettingsReader, agentId: string): void {
  const to: SettingImport["path"] = ["agents", "list", { id: agentId }];
  reader.map([], [...to, "id"], agentId);
  const turns = reader.number("agent", "max_turns");
  if (turns !== undefined && turns > 0)
    reader.map(["agent", "max_turns"], [...to, "limits", "turns"], Math.trunc(turns));
  const effort = reader.text("agent", "reasoning_effort");
  const thinking = {
    none: "off",
    minimal: "minimal",
    low: "low",
    medium: "medium",
    high: "high",
    xhigh: "max",
  }[effort ?? ""];
  if (thinking !== undefined) reader.map(["agent", "reasoning_effort"], [...to, "thinking"], thinking);
  reader.note(
    ["terminal", "backend"],
    "skipped",
    "Commands always run in a sandbox here (tools.exec.sandbox).",
  );
  const seconds = reader.number("terminal", "timeout");
  if (seconds !== undefined && seconds > 0)
    reader.map(["terminal", "timeout"], ["tools", "exec", "timeoutMs"], seconds * 1_000);
  const disabled = reader.texts("skills", "disabled");
  if (disabled.length > 0)
    reader.map(["skills", "disabled"], ["agents", "defaults", "skills", "deny"], disabled);
}

function mapAccounts(
  reader: SettingsReader,
  secrets: Secrets,
  facts: Facts,
  options: ReadOptions,
  steps: string[],
): readonly SourceAccount[] {
  const everyone = listUsers(reader.text(".env", "GATEWAY_ALLOWED_USERS"));
  return CHANNELS.flatMap((channel) => {
    const fields = TOKENS[channel] ?? {};
    const isSet = Object.keys(fields).some((variable) => reader.has(".env", variable));
    if (!isSet) return [];
    if (reader.get("platforms", channel, "enabled") === false) {
      for (const variable of Object.keys(fields))
        reader.note([".env", variable], "skipped", "The channel was off.");
      return [];
    }
    reader.note(["platforms", channel, "enabled"], "skipped", "Channels that are listed are on.");
    const account = options.accounts[`${channel}/main`] ?? "main";
    const to: SettingImport["path"] = ["channels", channel, "accounts", account];
    const unit = `channel account ${channel}/${account}`;
    for (const [variable, { to: key, secret }] of Object.entries(fields)) {
      const value = reader.text(".env", variable);
      if (value === undefined) continue;
      if (secret === undefined) reader.map([".env", variable], [...to, key], value, { unit });
      else
        mapSecret(
          reader,
          [".env", variable],
          [...to, key],
          secrets.read(value, `${channel}-${account}-${key}`),
          unit,
        );
    }
    if (channel === "feishu") reader.map([], [...to, "transport"], "socket", { unit });
    const admins = asTexts(reader.get("platforms", channel, "extra", "allow_admin_from"));
    if (admins.length > 0)
      steps.push(
        `Admins in Hermes, who may be owners here (access.owners): ${admins.map((id) => `${channel}:${id}`).join(", ")}.`,
      );
    reader.note(
      ["platforms", channel, "extra", "allow_admin_from"],
      "skipped",
      "Listed as candidates for access.owners.",
    );
    const people = [
      ...everyone,
      ...listUsers(reader.text(".env", `${channel.toUpperCase()}_ALLOWED_USERS`)),
      ...asTexts(reader.get("platforms", channel, "extra", "allow_from")),
    ];
    // Everyone in a group needs to be allowed, too.
    const listed = people.filter((id) => id !== "*");
    return [
      {
        channel,
        account,
        dm: "pairing" as const,
        people: listed,
        paired: facts.paired.filter((each) => each.channel === channel).map(({ peerId }) => peerId),
        groupPeople: listed,
        groups: "any" as const,
        requireMention: true,
        knownGroups: [...(facts.knownGroups.get(channel) ?? [])],
      },
    ];
  });
}

function listUsers(text: string | undefined): readonly string[] {
  return (text ?? "")
    .split(",")
    .map((id) => id.trim())
    .filter((id) => id !== "");
}

function mapMcp(reader: SettingsReader, secrets: Secrets): void {
  const denied: { readonly from: SourcePath; readonly tools: readonly string[] }[] = [];
  for (const name of reader.keys("mcp_servers")) {
    const at: SourcePath = ["mcp_servers", name];
    if (reader.get(...at, "enabled") === false) {
      reader.note(at, "skipped", "It was off.");
      continue;
    }
    reader.note([...at, "enabled"], "skipped", "MCP servers that are listed are on.");
    const ours = toServerName(name);
    const included = reader.texts(...at, "tools", "include");
    const excluded = reader.texts(...at, "tools", "exclude").map((tool) => `mcp__${ours}__${tool}`);
    reader.note(
      [...at, "tools", "include"],
      "skipped",
      "Agents name the tools of MCP servers in tools.allow.",
    );
    if (excluded.length > 0) denied.push({ from: [...at, "tools", "exclude"], tools: excluded });
    mapMcpServer(reader, secrets, { at, name: ours, enabled: included });
  }
  if (denied.length > 0)
    reader.map(
      denied.map(({ from }) => from),
      ["agents", "defaults", "tools", "deny"],
      denied.flatMap(({ tools }) => tools),
    );
}
