import type { SourceAccount } from "../access.ts";
import { type KnownGroups, mapAccess } from "../common.ts";
import type { Item } from "../item.ts";
import { toAccountName } from "../names.ts";
import { createSecretReader, mapSecret } from "../secrets.ts";
import {
  asRecord,
  asTexts,
  createSettingsReader,
  type SettingsReader,
  type SourcePath,
} from "../settings.ts";
import type { PersonImport, ReadOptions, SettingImport } from "../source.ts";
import { mapTools } from "./tools.ts";

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
    [["channels", channel], ...listInstances(reader, ["channels", channel])].flatMap((at) =>
      ["allowFrom", "groupPolicy", "groupAllowFrom"].map((key): SourcePath => [...at, key]),
    ),
  );
  const access = mapAccess(reader, places, accounts, options.owners, facts.paired);
  if (access.owners.length === 0)
    warnings.push(
      "nanobot knows no owners. Name yourself with --owner, for example --owner telegram:5001; otherwise nobody can approve anything in chats.",
    );
  mapTools(reader, secrets);
  mapTranscription(reader, providers);
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
const ACCOUNT = "main";

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
  const preset = reader.text(...at, "modelPreset");
  const from: SourcePath = preset === undefined ? at : ["modelPresets", preset];
  if (preset !== undefined) reader.note([...at, "modelPreset"], "skipped", "Its model becomes the agent's.");
  const model = reader.text(...from, "model");
  const provider = reader.text(...from, "provider");
  const converted =
    model === undefined ? undefined : convert(model, provider === "auto" ? undefined : provider);
  if (converted !== undefined)
    reader.map(
      [
        [...from, "model"],
        [...from, "provider"],
      ],
      [...to, "model"],
      converted.name,
      { unit: converted.unit },
    );
  else if (model !== undefined) {
    reader.note([...from, "model"], "unsupported", "Its provider is not configured, or cannot be used here.");
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
  return reader.keys("channels").flatMap((channel): readonly SourceAccount[] => {
    const at: SourcePath = ["channels", channel];
    if (asRecord(reader.get(...at)) === undefined) return [];
    const fields = Object.hasOwn(FIELDS, channel) ? FIELDS[channel] : undefined;
    if (fields === undefined) {
      reader.note(at, "unsupported", `This command imports no accounts of ${channel}.`);
      return [];
    }
    if (reader.get(...at, "enabled") !== true) {
      reader.note(at, "skipped", "The channel was off.");
      return [];
    }
    reader.note([...at, "enabled"], "skipped", "Channels that are listed are on.");
    return listInstances(reader, at).flatMap((instance) => {
      if (reader.get(...instance, "enabled") === false) {
        reader.note(instance, "skipped", "The account was off.");
        return [];
      }
      reader.note([...instance, "enabled"], "skipped", "Accounts that are listed are on.");
      return [mapAccount(reader, secrets, { channel, at, instance, fields }, facts, options)];
    });
  });
}

/** Returns the places of a channel's accounts: the channel itself, or its instances, which inherit from it. */
function listInstances(reader: SettingsReader, at: SourcePath): readonly SourcePath[] {
  const instances = reader.get(...at, "instances");
  return Array.isArray(instances) && instances.length > 0
    ? [...instances.keys()].map((index) => [...at, "instances", index])
    : [at];
}

interface AccountPlace {
  readonly channel: string;
  readonly at: SourcePath;
  readonly instance: SourcePath;
  readonly fields: Readonly<Record<string, { readonly to: string; readonly secret?: true }>>;
}

function mapAccount(
  reader: SettingsReader,
  secrets: Secrets,
  { channel, at, instance, fields }: AccountPlace,
  facts: Facts,
  options: ReadOptions,
): SourceAccount {
  const find = (key: string): SourcePath =>
    reader.has(...instance, key) ? [...instance, key] : [...at, key];
  const named =
    instance === at ? undefined : (reader.text(...instance, "name") ?? reader.text(...instance, "id"));
  const theirs = named ?? (instance === at ? ACCOUNT : String(instance.at(-1)));
  for (const key of ["name", "id"]) reader.note([...instance, key], "skipped", "It names the account.");
  const account = toAccountName(channel, theirs, options);
  const to: SettingImport["path"] = ["channels", channel, "accounts", account];
  const unit = `channel account ${channel}/${account}`;
  for (const [key, { to: ours, secret }] of Object.entries(fields)) {
    const from = find(key);
    const value = reader.text(...from);
    if (value === undefined) continue;
    if (secret === undefined) reader.map(from, [...to, ours], value, { unit });
    else mapSecret(reader, from, [...to, ours], secrets.read(value, `${channel}-${account}-${ours}`), unit);
  }
  if (channel === "feishu") reader.map([], [...to, "transport"], "socket", { unit });
  const people = asTexts(reader.get(...find("allowFrom")));
  const policy = reader.text(...find("groupPolicy")) ?? "mention";
  const groups = asTexts(reader.get(...find("groupAllowFrom")));
  return {
    channel,
    account,
    dm: people.includes("*") ? "open" : "pairing",
    people,
    // nanobot does not record to which account a person is paired.
    paired: facts.paired.filter((each) => each.channel === channel).map(({ peerId }) => peerId),
    groupPeople: people,
    groups: policy === "allowlist" ? new Map(groups.map((id) => [id, {}])) : "any",
    requireMention: policy !== "open",
    knownGroups: [...(facts.knownGroups.get(channel) ?? [])],
  };
}

/** Converts the model that transcribes recordings, if its provider has OpenAI's API. */
function mapTranscription(reader: SettingsReader, providers: ReadonlyMap<string, string>): void {
  const provider = reader.text("transcription", "provider");
  const model = reader.text("transcription", "model");
  const unit = provider === undefined ? undefined : providers.get(provider);
  if (provider === undefined || model === undefined || unit === undefined || provider in API_OF) return;
  const name = NAME_OF[provider] ?? provider.replaceAll("_", "-");
  reader.map(
    [
      ["transcription", "provider"],
      ["transcription", "model"],
    ],
    ["media", "transcription"],
    `${name}/${model}`,
    { unit },
  );
}
