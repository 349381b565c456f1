import { existsSync, statSync } from "node:fs";
import { reasonOf } from "@signalbox/agent-core";
import { getStoreUrl, type Home, hasDatabase, readLastBackup, withDatabase } from "@signalbox/home";
import { type AnyStore, type JsonValue, openStore } from "@signalbox/store";
import { type Finding, runCheck } from "./finding.ts";
import { checkNodes } from "./nodes.ts";
import { checkPostgres } from "./postgres.ts";

const DAY_MS = 86_400_000;
/** Maximum age of a backup, in days. If it is older, a new one is recommended. */
const OLD_BACKUP_DAYS = 7;

/** Checks the stored data without creating or migrating the database. */
export async function checkStoredData(home: Home, now: () => number): Promise<Finding[]> {
  return [
    {
      part: "token",
      state: "ok",
      detail: existsSync(home.tokenFile)
        ? `stored in ${home.tokenFile}`
        : "not in the home: it comes from the configuration or SIGNALBOX_TOKEN, or the first start creates it",
    },
    ...(await database(home)),
    ...(await checkNodes(home, now)),
    ...backup(home, now()),
    ...(await undelivered(home)),
    ...(await driftedPrompts(home)),
  ];
}

async function database(home: Home): Promise<Finding[]> {
  const url = getStoreUrl(home, process.env);
  if (url === undefined) return [await runCheck("database", () => describeFile(home), repairOf(home))];
  try {
    const { inspectPostgres } = await import("@signalbox/store-postgres");
    return checkPostgres(await inspectPostgres(url));
  } catch (error) {
    const remedy = "Check `store.url`, the database server and its log.";
    return [{ part: "database", state: "error", detail: reasonOf(error), remedy }];
  }
}

/** Returns the steps for a database that cannot be read. */
function repairOf(home: Home): string {
  const aside = `move ${home.databaseFile} and the files next to it that start with the same name to another folder`;
  const last = readLastBackup(home);
  return last === undefined
    ? `No backup is known. Stop the gateway and ${aside}: the next start creates an empty database, and the configuration, skills and workspaces stay. \`sqlite3 <file> .recover\` may rescue rows of the old one.`
    : `Stop the gateway, keep a copy of the file, and restore the latest backup with \`signalbox restore ${last.path}\`.`;
}

async function describeFile(home: Home): Promise<string> {
  if (!existsSync(home.databaseFile)) return "created at the first start";
  const store = await openStore({ path: home.databaseFile, access: "read" });
  try {
    const { ok, problems } = await store.admin.integrity();
    if (!ok) throw new Error(`${home.databaseFile} is damaged: ${problems.join("; ")}`);
    const { version, fileBytes } = await store.admin.file();
    return `${home.databaseFile}, version ${version}, ${fileBytes} bytes, sound`;
  } finally {
    await store.close();
  }
}

/** Returns undefined if reading fails; another check reports the state of the database. */
async function read<T>(home: Home, runCheck: (store: AnyStore) => Promise<T>): Promise<T | undefined> {
  try {
    return (await hasDatabase(home)) ? await withDatabase(home, "read", runCheck) : undefined;
  } catch {
    return undefined;
  }
}

const MAX_DRIFTS = 5;

/** Lists conversations whose prompt prefix changed unexpectedly, which caused cache misses at the vendor. */
async function driftedPrompts(home: Home): Promise<Finding[]> {
  const rows = (await read(home, ({ kv }) => kv.list("prompt-drift"))) ?? [];
  if (rows.length === 0) return [];
  const told = rows.slice(0, MAX_DRIFTS).map(({ key, value }) => `${key}: ${driftText(value)}`);
  const more = rows.length > told.length ? [`and ${rows.length - told.length} more`] : [];
  return [
    {
      part: "prompt cache",
      state: "ok",
      detail: `the beginning of the prompt changed in ${rows.length} conversations in the last 7 days: ${[...told, ...more].join("; ")}`,
      remedy: "Each change costs once. If a section changes at every turn, find out what writes it.",
    },
  ];
}

/** Reports the age of the last backup. */
function backup(home: Home, now: number): Finding[] {
  // PostgreSQL has its own backups.
  if (getStoreUrl(home, process.env) !== undefined || !existsSync(home.databaseFile)) return [];
  const last = readLastBackup(home);
  const since = last?.at ?? statSync(home.databaseFile).birthtimeMs;
  const days = Math.floor((now - since) / DAY_MS);
  const detail =
    last === undefined ? "none has been made here" : `the latest is ${days} days old, in ${last.path}`;
  if (days <= OLD_BACKUP_DAYS) return [{ part: "backup", state: "ok", detail }];
  return [
    {
      part: "backup",
      state: "warning",
      detail,
      remedy:
        "Make one with `signalbox backup <folder>`; the gateway can keep running. Store it on another machine.",
    },
  ];
}

function driftText(value: JsonValue): string {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return "unknown";
  const { section, change, byte } = { section: "?", change: "?", byte: "?", ...value };
  return `the section ${String(section)} (${String(change)}, from byte ${String(byte)})`;
}

/** Reports replies that need attention. */
async function undelivered(home: Home): Promise<Finding[]> {
  const stats = await read(home, ({ maintenance }) => maintenance.stats());
  if (stats === undefined) return [];
  const { dead, expired, uncertain } = stats.outbox;
  const count = dead + expired + uncertain;
  if (count === 0) return [];
  return [
    {
      part: "outbox",
      state: "warning",
      detail: `${count === 1 ? "1 reply was" : `${count} replies were`} not delivered`,
      remedy:
        "`signalbox outbox list` shows them; `outbox retry` sends one again, `outbox drop` discards it.",
    },
  ];
}
