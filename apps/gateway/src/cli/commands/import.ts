import { existsSync, mkdirSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import {
  backupHome,
  configuredPath,
  findMissingSecrets,
  GatewayError,
  type Home,
  hasDatabase,
  lockHome,
  prepareHome,
  withDatabase,
} from "@signalbox/home";
import { type AnyStore, openFileTables, openStore } from "@signalbox/store";
import { importHome } from "../../import/import-home.ts";
import { PARTS, type Part } from "../../import/item.ts";
import { getOpenclawFolder } from "../../import/openclaw/home.ts";
import { formatReport, type ImportReport } from "../../import/report.ts";
import { SYSTEMS, type System } from "../../import/source.ts";
import { getMachineTimeZone } from "../../machine-time-zone.ts";
import type { CommonOptions } from "../common-options.ts";
import { configuredHome } from "../configured-home.ts";
import { formatCommand } from "../format-command.ts";
import { formatMissingSecrets } from "../missing-secrets.ts";
import { print } from "../output.ts";
import { withProgress } from "../progress.ts";

const DAY_MS = 86_400_000;

export interface ImportCommandOptions extends CommonOptions {
  readonly apply?: boolean;
  readonly secrets?: boolean;
  readonly only?: readonly string[];
  readonly agent?: Readonly<Record<string, string>>;
  readonly account?: Readonly<Record<string, string>>;
  readonly owner?: readonly string[];
  readonly since?: number;
  readonly force?: readonly string[];
  readonly trustMemory?: boolean;
  readonly inPlace?: boolean;
  readonly all?: boolean;
  readonly keepUnsupported?: boolean;
}

/** `signalbox import <system> [folder]`: plans to import the home of another system, and does so with `--apply`. */
export async function importFrom(
  system: string,
  folder: string | undefined,
  options: ImportCommandOptions,
): Promise<void> {
  if (!isSystem(system))
    throw new GatewayError("usage", `Unknown system ${system}. It can be ${SYSTEMS.join(", ")}.`);
  if (system === "hermes" && options.inPlace === true)
    throw new GatewayError("usage", "--in-place is not for Hermes, whose homes contain no workspace.");
  const { home, loaded } = configuredHome(options);
  const dir = resolve(
    folder === undefined ? getDefaultFolder(system) : configuredPath({ dir: process.cwd() }, folder),
  );
  if (!existsSync(dir))
    throw new GatewayError("usage", `There is no folder ${dir}. Name the home of ${system}.`);
  if (dir === home.dir || dir.startsWith(`${home.dir}/`))
    throw new GatewayError("usage", `${dir} is the home of this gateway, or in it.`);
  const now = Date.now();
  const importOptions = {
    system,
    dir,
    apply: options.apply === true,
    secrets: options.secrets === true,
    only: options.only === undefined ? undefined : toParts(options.only),
    force: toParts(options.force ?? []),
    agents: options.agent ?? {},
    accounts: options.account ?? {},
    owners: options.owner ?? [],
    since: options.since === undefined ? undefined : now - options.since * DAY_MS,
    trustMemory: options.trustMemory === true,
    inPlace: options.inPlace === true,
    all: options.all === true,
    keepUnsupported: options.keepUnsupported === true,
    hiddenMessagesMs: loaded.config.retention.hiddenMessagesDays * DAY_MS,
    env: process.env,
    now,
    timeZone: getMachineTimeZone().name,
  };
  const report = importOptions.apply
    ? withMissingSecrets(
        home,
        await withProgress("Importing", () => apply(home, loaded.config.store.url, importOptions)),
      )
    : await plan(home, importOptions);
  print(options.json, report, () => formatReport(report));
}

/** Adds the secrets that the imported configuration needs to the remaining steps. */
function withMissingSecrets(home: Home, report: ImportReport): ImportReport {
  const missing = formatMissingSecrets(findMissingSecrets(home, process.env), formatCommand(home, "doctor"));
  return missing.length === 0 ? report : { ...report, steps: [...report.steps, missing.join("\n")] };
}

type Options = Parameters<typeof importHome>[2];

async function plan(home: Home, options: Options): Promise<ImportReport> {
  if (!(await hasDatabase(home))) return importHome(home, undefined, options);
  return withDatabase(home, "read", (store) => importHome(home, store, options));
}

/** Imports while no gateway uses the home. */
async function apply(home: Home, url: string | undefined, options: Options): Promise<ImportReport> {
  prepareHome(home);
  const lock = lockHome(home);
  try {
    if (url === undefined) return await applyToFile(home, options);
    if (!(await hasDatabase(home))) return await applyToNewPostgres(home, url, options);
    return await withDatabase(home, "share", (store) => importHome(home, store, options));
  } finally {
    lock.release();
  }
}

async function applyToFile(home: Home, options: Options): Promise<ImportReport> {
  const backup = await backUp(home, options.now);
  const store = await openStore({ path: home.databaseFile });
  try {
    return { ...(await importHome(home, store, options)), backup };
  } finally {
    await store.close();
  }
}

/**
 * Imports into a temporary SQLite file and copies it into PostgreSQL, because only the file accepts conversations with
 * the times of another system.
 */
async function applyToNewPostgres(home: Home, url: string, options: Options): Promise<ImportReport> {
  const { copyFile, openPostgresStore } = await import("@signalbox/store-postgres");
  const folder = join(home.dir, "import-in-progress");
  // An earlier import may have been interrupted.
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  const path = join(folder, "signalbox.db");
  let store: AnyStore = await openStore({ path });
  const moveStore = async (): Promise<AnyStore> => {
    await store.close();
    const tables = openFileTables(path);
    try {
      await copyFile(url, tables);
    } finally {
      tables.close();
    }
    store = await openPostgresStore({ url, connections: 2, hints: false });
    return store;
  };
  try {
    return await importHome(home, store, options, moveStore);
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Backs up the database before the first change. The configuration has its own history. */
async function backUp(home: Home, now: number): Promise<string | undefined> {
  if (!existsSync(home.databaseFile)) return undefined;
  const folder = join(
    home.dir,
    "backups",
    `before-import-${new Date(now).toISOString().replaceAll(":", "-")}`,
  );
  mkdirSync(join(home.dir, "backups"), { recursive: true, mode: 0o700 });
  await backupHome(home, folder);
  return folder;
}

function isSystem(text: string): text is System {
  return SYSTEMS.some((system) => system === text);
}

function getDefaultFolder(system: System): string {
  if (system === "openclaw") return getOpenclawFolder(process.env);
  return (system === "hermes" && process.env["HERMES_HOME"]) || join(homedir(), `.${system}`);
}

function toParts(names: readonly string[]): ReadonlySet<Part> {
  const parts = names.flatMap((name) => name.split(","));
  const unknown = parts.find((name) => !PARTS.some((part) => part === name));
  if (unknown !== undefined)
    throw new GatewayError("usage", `Unknown part ${unknown}. The parts are ${PARTS.join(", ")}.`);
  return new Set(PARTS.filter((part) => parts.includes(part)));
}
