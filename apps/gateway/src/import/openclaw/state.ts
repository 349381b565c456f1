import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { SourceDatabase } from "../database-copy.ts";
import { readEnvironmentFile } from "../files.ts";
import type { Item } from "../item.ts";
import { parseRecord } from "../records.ts";
import type { StoredSecrets } from "../secrets.ts";
import { asRecord, asText } from "../settings.ts";
import type { Facts } from "./facts.ts";

/** Newest known version of the database. */
const STATE_VERSION = 18;

/** State of a gateway, from its database or from the files of versions before 2026.6. */
export interface State {
  readonly version: string | undefined;
  readonly secrets: StoredSecrets;
  readonly paired: Facts["paired"];
  readonly jobs: readonly { readonly id: string; readonly job: Readonly<Record<string, unknown>> }[];
  readonly execApprovals: unknown;
  readonly generated: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly items: readonly Item[];
  readonly warnings: readonly string[];
}

/** Tables whose rows are not imported, with the reason. */
const LEFT_TABLES: readonly {
  readonly table: string;
  readonly state: Item["state"];
  readonly why: string;
  readonly where?: string;
}[] = [
  { table: "channel_pairing_requests", state: "skipped", why: "Pairing codes are valid for an hour." },
  {
    table: "delivery_queue_entries",
    state: "skipped",
    why: "Replies that were not sent. Look at them in OpenClaw.",
    where: "status NOT IN ('completed','delivered','sent')",
  },
  {
    table: "channel_ingress_events",
    state: "skipped",
    why: "Messages that were not finished. Look at them in OpenClaw.",
    where: "status <> 'completed'",
  },
  { table: "mcp_oauth_stores", state: "unsupported", why: "Sign-ins of MCP servers. Sign in again." },
  { table: "current_conversation_bindings", state: "skipped", why: "Temporary bindings of conversations." },
  { table: "user_profiles", state: "unsupported", why: "People of OpenClaw's own page." },
  {
    table: "plugin_state_entries",
    state: "skipped",
    why: "State of plugins. Telegram stores its own offset.",
  },
];

/** Reads the state of a gateway from its database. */
export function readDatabaseState(database: SourceDatabase, dir: string): State {
  const items: Item[] = [];
  const warnings: string[] = [];
  const read = (
    table: string,
    columns: readonly string[],
    part: Item["part"],
  ): readonly Readonly<Record<string, unknown>>[] => {
    if (database.has(table, columns)) return database.all(`SELECT * FROM ${table}`);
    if (database.has(table, []))
      items.push({
        part,
        id: table,
        state: "unsupported",
        why: `Other columns than in known versions (version ${database.version}). Not read.`,
      });
    return [];
  };
  if (database.version > STATE_VERSION)
    warnings.push(
      `The home was written by a newer OpenClaw (version ${database.version} of its state, ${STATE_VERSION} is known).`,
    );
  for (const { table, state, why, where } of LEFT_TABLES) {
    if (!database.has(table, [])) continue;
    const usable = where === undefined || database.has(table, ["status"]);
    const count = Number(
      database.all(
        `SELECT count(*) AS n FROM ${table}${where !== undefined && usable ? ` WHERE ${where}` : ""}`,
      )[0]?.["n"] ?? 0,
    );
    if (count > 0) items.push({ part: "config", id: `state/${table}`, state, why: `${count}: ${why}` });
  }
  const paired = read("channel_pairing_allow_entries", ["channel_key", "account_id", "entry"], "people").map(
    (row) => ({
      channel: asText(row["channel_key"]) ?? "",
      account: asText(row["account_id"]) ?? "default",
      peerId: asText(row["entry"]) ?? "",
    }),
  );
  const jobs = read("cron_jobs", ["job_id", "job_json"], "schedules").map((row) => ({
    id: asText(row["job_id"]) ?? "",
    job: {
      ...parseRecord(row["job_json"]),
      ...(row["declaration_key"] === null ? {} : { declarationKey: row["declaration_key"] }),
      ...(row["enabled"] === 0 ? { enabled: false } : {}),
    },
  }));
  const approvals = read("exec_approvals_config", ["config_key", "raw_json"], "config").find(
    (row) => row["config_key"] === "current",
  );
  const store: Record<string, string> = {};
  for (const row of read(
    "secret_store_entries",
    ["scope_kind", "name", "value", "deleted_at_ms"],
    "config",
  )) {
    const name = asText(row["name"]);
    if (name !== undefined && row["scope_kind"] === "team" && row["deleted_at_ms"] === null)
      store[name] = asText(row["value"]) ?? "";
  }
  const machine = read("config_machine_state", ["state_key", "value_json"], "config");
  const profileRow = machine.find((row) => row["state_key"] === "authProfiles.store");
  const generated = new Map<string, Map<string, string>>();
  for (const row of read(
    "workspace_generated_bootstrap_hashes",
    ["workspace_key", "filename", "sha256"],
    "workspaces",
  )) {
    const key = asText(row["workspace_key"]) ?? "";
    const files = generated.get(key) ?? new Map<string, string>();
    files.set(asText(row["filename"]) ?? "", asText(row["sha256"]) ?? "");
    generated.set(key, files);
  }
  const byPath = new Map<string, ReadonlyMap<string, string>>();
  for (const row of read("workspace_setup_state", ["workspace_key", "workspace_path"], "workspaces")) {
    const files = generated.get(asText(row["workspace_key"]) ?? "");
    if (files !== undefined) byPath.set(resolve(asText(row["workspace_path"]) ?? ""), files);
  }
  const [meta] = database.has("schema_meta", ["meta_key", "app_version"])
    ? database.all("SELECT app_version FROM schema_meta WHERE meta_key = 'primary'")
    : [];
  return {
    version: asText(meta?.["app_version"]),
    secrets: {
      env: readEnvironmentFile(join(dir, ".env")),
      store,
      profiles: readProfiles(parseRecord(profileRow?.["value_json"]), items),
    },
    paired,
    jobs,
    execApprovals: approvals === undefined ? undefined : parseRecord(approvals["raw_json"]),
    generated: byPath,
    items,
    warnings,
  };
}

/** Reads the state of versions before 2026.6 from their files. */
export function readFileState(dir: string): State {
  const items: Item[] = [];
  const json = (path: string): Readonly<Record<string, unknown>> => {
    const file = join(dir, path);
    return existsSync(file) ? parseRecord(readFileSync(file, "utf8")) : {};
  };
  const credentials = join(dir, "credentials");
  const names = existsSync(credentials) ? readdirSync(credentials) : [];
  const paired = names.flatMap((name) => {
    const [, channel, account = "default"] = /^([a-z]+)(?:-(.+))?-allowFrom\.json$/.exec(name) ?? [];
    const list = channel === undefined ? [] : json(join("credentials", name))["allowFrom"];
    return channel === undefined || !Array.isArray(list)
      ? []
      : list.flatMap((entry) => {
          const peerId = asText(entry);
          return peerId === undefined ? [] : [{ channel, account, peerId }];
        });
  });
  const list = json("cron/jobs.json")["jobs"];
  const jobs = (Array.isArray(list) ? list : []).flatMap((each) => {
    const job = asRecord(each) ?? {};
    const id = asText(job["id"]) ?? asText(job["jobId"]);
    return id === undefined ? [] : [{ id, job }];
  });
  const agentsDir = join(dir, "agents");
  const profiles: Record<string, string[]> = {};
  for (const agent of existsSync(agentsDir) ? readdirSync(agentsDir) : []) {
    const found = readProfiles(json(join("agents", agent, "agent", "auth-profiles.json")), items);
    for (const [provider, keys] of Object.entries(found))
      profiles[provider] = [...new Set([...(profiles[provider] ?? []), ...keys])];
  }
  const approvals = json("exec-approvals.json");
  return {
    version: undefined,
    secrets: { env: readEnvironmentFile(join(dir, ".env")), store: {}, profiles },
    paired,
    jobs,
    execApprovals: Object.keys(approvals).length === 0 ? undefined : approvals,
    generated: new Map(),
    items,
    warnings: [],
  };
}

/** Returns the API keys of providers. Logins of subscriptions cannot be imported. */
function readProfiles(store: Readonly<Record<string, unknown>>, items: Item[]): Record<string, string[]> {
  const profiles: Record<string, string[]> = {};
  for (const [id, value] of Object.entries(asRecord(store["profiles"]) ?? {})) {
    const profile = asRecord(value) ?? {};
    const provider = asText(profile["provider"]) ?? id.split(":", 1)[0] ?? "";
    const key = asText(profile["key"]) ?? asText(profile["token"]);
    if (profile["type"] === "oauth" || key === undefined)
      items.push({
        part: "config",
        id: `auth/${id}`,
        state: "unsupported",
        why: "The login of a subscription. Set an API key.",
      });
    else profiles[provider] = [...(profiles[provider] ?? []), key];
  }
  return profiles;
}
