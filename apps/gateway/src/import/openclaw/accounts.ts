import type { SourceAccount, SourceGroup } from "../access.ts";
import { toAccountName } from "../names.ts";
import { type createSecretReader, mapSecret } from "../secrets.ts";
import { asRecord, asText, asTexts, type SettingsReader, type SourcePath } from "../settings.ts";
import type { ReadOptions, SettingImport } from "../source.ts";
import type { Facts } from "./facts.ts";
import { convertToolNames } from "./tools.ts";

/** A setting of an account: its key there, its key here, and the conversion of its value. */
interface Field {
  readonly theirs: string;
  readonly ours: string;
  readonly secret?: true;
  readonly convert?: (value: unknown) => unknown;
}

const FIELDS: Readonly<Record<string, readonly Field[]>> = {
  telegram: [
    { theirs: "botToken", ours: "botToken", secret: true },
    { theirs: "webhookSecret", ours: "webhookSecret", secret: true },
    { theirs: "apiRoot", ours: "apiBaseUrl" },
    { theirs: "richMessages", ours: "richMessages" },
  ],
  discord: [{ theirs: "token", ours: "token", secret: true }],
  slack: [
    { theirs: "botToken", ours: "botToken", secret: true },
    { theirs: "appToken", ours: "appToken", secret: true },
    { theirs: "signingSecret", ours: "signingSecret", secret: true },
    { theirs: "mode", ours: "transport", convert: (mode) => (mode === "http" ? "webhook" : "socket") },
  ],
  feishu: [
    { theirs: "appId", ours: "appId" },
    { theirs: "appSecret", ours: "appSecret", secret: true },
    { theirs: "encryptKey", ours: "encryptKey", secret: true },
    { theirs: "verificationToken", ours: "verificationToken", secret: true },
    { theirs: "domain", ours: "domain" },
    {
      theirs: "connectionMode",
      ours: "transport",
      convert: (mode) => (mode === "webhook" ? "webhook" : "socket"),
    },
  ],
};

const TOKEN: Readonly<Record<string, string>> = {
  telegram: "botToken",
  discord: "token",
  slack: "botToken",
  feishu: "appSecret",
};

interface AccountFacts extends Facts {
  readonly options: ReadOptions;
  readonly channels: readonly string[];
}

/** Converts the accounts of all channels. Returns the access rules of those that are on. */
export function readAccounts(
  reader: SettingsReader,
  secrets: ReturnType<typeof createSecretReader>,
  facts: AccountFacts,
): readonly SourceAccount[] {
  return facts.channels.flatMap((channel) => {
    const at: SourcePath = ["channels", channel];
    if (!reader.has(...at)) return [];
    if (reader.get(...at, "enabled") === false) {
      reader.note(at, "skipped", "The channel was off.");
      return [];
    }
    reader.note([...at, "enabled"], "skipped", "Channels that are listed are on.");
    const named = reader.keys(...at, "accounts");
    const hasFlat = reader.has(...at, TOKEN[channel] ?? "") || reader.has(...at, "tokenFile");
    const accounts: readonly { readonly name: string; readonly prefix: SourcePath }[] = [
      ...(hasFlat && !named.includes("default") ? [{ name: "default", prefix: at }] : []),
      ...named.map((name) => ({ name, prefix: [...at, "accounts", name] })),
    ];
    mapStreaming(reader, channel, accounts);
    return accounts.flatMap(({ name, prefix }) => {
      if (reader.get(...prefix, "enabled") === false) {
        reader.note(prefix, "skipped", "The account was off.");
        return [];
      }
      mapAccount(reader, secrets, { channel, name, prefix, facts });
      return [readAccess(reader, channel, name, prefix, facts)];
    });
  });
}

/** Returns a value of an account, or the channel's own if the account has none. */
function getInherited(reader: SettingsReader, channel: string, prefix: SourcePath, key: SourcePath): unknown {
  return reader.get(...prefix, ...key) ?? reader.get("channels", channel, ...key);
}

function mapAccount(
  reader: SettingsReader,
  secrets: ReturnType<typeof createSecretReader>,
  account: {
    readonly channel: string;
    readonly name: string;
    readonly prefix: SourcePath;
    readonly facts: AccountFacts;
  },
): void {
  const { channel, name, prefix, facts } = account;
  const ours = toAccountName(channel, name, facts.options);
  const to: SettingImport["path"] = ["channels", channel, "accounts", ours];
  const unit = `channel account ${channel}/${ours}`;
  reader.note([...prefix, "enabled"], "skipped", "Accounts that are listed are on.");
  for (const { theirs, ours: key, secret, convert } of FIELDS[channel] ?? []) {
    const own = reader.has(...prefix, theirs);
    const value = own ? reader.get(...prefix, theirs) : reader.get("channels", channel, theirs);
    if (value === undefined) continue;
    const from: SourcePath = own ? [...prefix, theirs] : [];
    if (secret === undefined)
      reader.map(from, [...to, key], convert === undefined ? value : convert(value), { unit });
    else mapSecret(reader, from, [...to, key], secrets.read(value, `${channel}-${ours}-${key}`), unit);
  }
  if (channel === "discord") {
    const content = getInherited(reader, channel, prefix, ["intents", "messageContent"]);
    if (typeof content === "boolean")
      reader.map([...prefix, "intents", "messageContent"], [...to, "messageContent"], content, { unit });
  }
  if (channel === "telegram" && getInherited(reader, channel, prefix, ["webhookUrl"]) !== undefined) {
    reader.map([], [...to, "transport"], "webhook", { unit });
    reader.note(
      [...prefix, "webhookUrl"],
      "unsupported",
      "The path of the webhook differs. Register it again.",
    );
  }
  if (
    channel === "feishu" &&
    !reader.has(...prefix, "connectionMode") &&
    !reader.has("channels", channel, "connectionMode")
  )
    reader.map([], [...to, "transport"], "socket", { unit });
}

function mapStreaming(
  reader: SettingsReader,
  channel: string,
  accounts: readonly { readonly prefix: SourcePath }[],
): void {
  for (const prefix of [["channels", channel] as SourcePath, ...accounts.map((each) => each.prefix)]) {
    const mode = reader.text(...prefix, "streaming", "mode");
    if (mode === "off") reader.map([...prefix, "streaming", "mode"], ["replies", "stream"], "off");
    else if (mode !== undefined)
      reader.note(
        [...prefix, "streaming", "mode"],
        "skipped",
        "Answers are shown while they are written by default.",
      );
  }
}

const DM: Readonly<Record<string, SourceAccount["dm"]>> = {
  disabled: "off",
  allowlist: "allowlist",
  pairing: "pairing",
  open: "open",
};

function readAccess(
  reader: SettingsReader,
  channel: string,
  name: string,
  prefix: SourcePath,
  { paired, knownGroups, options }: AccountFacts,
): SourceAccount {
  const get = (...key: SourcePath): unknown => getInherited(reader, channel, prefix, key);
  const policy =
    asText(get("dmPolicy")) ??
    asText(get("dm", "policy")) ??
    reader.text("channels", "defaults", "dmPolicy") ??
    "pairing";
  const people = expand(reader, [...asTexts(get("allowFrom")), ...asTexts(get("dm", "allowFrom"))], channel);
  const groupList = get("groupAllowFrom");
  const groupPeople = groupList === undefined ? people : expand(reader, asTexts(groupList), channel);
  const groupPolicy =
    asText(get("groupPolicy")) ?? reader.text("channels", "defaults", "groupPolicy") ?? "allowlist";
  const known = [...(knownGroups.get(channel) ?? [])];
  return {
    channel,
    account: toAccountName(channel, name, options),
    // An unknown rule closes direct messages.
    dm: Object.hasOwn(DM, policy) ? (DM[policy] ?? "off") : "off",
    people,
    paired: paired
      .filter((each) => each.channel === channel && each.account === name)
      .map(({ peerId }) => stripPrefix(peerId, channel)),
    groupPeople: groupPolicy === "open" ? ["*"] : groupPeople,
    groups:
      groupPolicy === "disabled"
        ? new Map()
        : readGroups(reader, channel, get, groupPolicy === "open" ? ["*"] : groupPeople),
    requireMention: get("requireMention") !== false,
    knownGroups: known,
  };
}

/** Reads the groups of an account. Without any, an open account answers in every group, and others in none. */
function readGroups(
  reader: SettingsReader,
  channel: string,
  get: (...key: SourcePath) => unknown,
  people: readonly string[],
): SourceAccount["groups"] {
  const groups = new Map<string, SourceGroup>();
  const add = (id: string, rule: Readonly<Record<string, unknown>>, outer: readonly unknown[] = []): void => {
    if (rule["enabled"] === false || rule["allow"] === false) return;
    const tools = asRecord(rule["tools"]);
    const lists = [rule, ...outer.map((each) => asRecord(each) ?? {})].flatMap((each) => {
      // Roles cannot be converted to people, so a rule with roles admits no one.
      const roles = asTexts(each["roles"]).length > 0 ? [[]] : [];
      const named = each["allowFrom"] ?? each["users"];
      return [...(Array.isArray(named) ? [expand(reader, asTexts(named), channel)] : []), ...roles];
    });
    const mention = rule["requireMention"] ?? asRecord(outer[0])?.["requireMention"];
    const isOpen = rule["groupPolicy"] === "open";
    const isClosed = rule["groupPolicy"] === "disabled";
    if (isClosed) return;
    const own = lists[0] ?? (isOpen ? ["*"] : undefined);
    groups.set(stripPrefix(id, channel), {
      people: own ?? people,
      ...(typeof mention === "boolean" ? { requireMention: mention } : {}),
      ...(tools === undefined && rule["toolsBySender"] === undefined && rule["skills"] === undefined
        ? {}
        : {
            tools: {
              ...(tools?.["allow"] === undefined ? {} : { allow: convertToolNames(asTexts(tools["allow"])) }),
              ...(tools?.["deny"] === undefined ? {} : { deny: convertToolNames(asTexts(tools["deny"])) }),
            },
          }),
      ...(typeof rule["systemPrompt"] === "string" && rule["systemPrompt"] !== ""
        ? { prompt: rule["systemPrompt"] }
        : {}),
    });
  };
  for (const [id, rule] of Object.entries(asRecord(get("groups")) ?? {})) add(id, asRecord(rule) ?? {});
  for (const [id, rule] of Object.entries(asRecord(get("channels")) ?? {})) add(id, asRecord(rule) ?? {});
  for (const guild of Object.values(asRecord(get("guilds")) ?? {}))
    for (const [id, rule] of Object.entries(asRecord(asRecord(guild)?.["channels"]) ?? {}))
      add(id, asRecord(rule) ?? {}, [guild]);
  const isAny = get("groups") === undefined && get("channels") === undefined && get("guilds") === undefined;
  return isAny ? (people.length > 0 ? "any" : new Map()) : groups;
}

/** Expands `accessGroup:<name>`, and removes the prefix of the channel. Names are not ids, so they are left out. */
function expand(reader: SettingsReader, entries: readonly string[], channel: string): readonly string[] {
  return [
    ...new Set(
      entries.flatMap((entry) => {
        const group = /^accessGroup:(.+)$/.exec(entry)?.[1];
        if (group !== undefined) {
          const members = reader.get("accessGroups", group, "members");
          const listed = Array.isArray(members) ? members : (asRecord(members)?.[channel] ?? []);
          return asTexts(listed).map((id) => stripPrefix(id, channel));
        }
        return [stripPrefix(entry, channel)];
      }),
    ),
  ].filter((id) => id !== "" && !id.startsWith("@"));
}

/** Removes a prefix such as `telegram:`, `tg:`, `user:` or `channel:` from an id. */
export function stripPrefix(id: string, channel: string): string {
  const prefixes = [channel, channel === "telegram" ? "tg" : channel, "user", "channel", "group"];
  const found = prefixes.find((prefix) => id.toLowerCase().startsWith(`${prefix}:`));
  return found === undefined ? id : id.slice(found.length + 1);
}
