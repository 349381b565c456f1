import { existsSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { backupHome, configuredPath, GatewayError, type Home, lockHome, prepareHome } from "@signalbox/home";
import { openStore, type SqliteStore } from "@signalbox/store";
import { importHome } from "../../import/import-home.ts";
import { PARTS, type Part } from "../../import/item.ts";
import { getOpenclawFolder } from "../../import/openclaw/home.ts";
import { formatReport, type ImportReport } from "../../import/report.ts";
import { SYSTEMS, type System } from "../../import/source.ts";
import { getMachineTimeZone } from "../../machine-time-zone.ts";
import type { CommonOptions } from "../common-options.ts";
import { configuredHome } from "../configured-home.ts";
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
  readonly all?: boolean;
  readonly keepUnsupported?: boolean;
}

const POSTGRES =
  "Homes of other systems can only be imported into an SQLite file so far. Import into a home without `store.url`.";

/** `signalbox import <system> [folder]`: plans to import the home of another system, and does so with `--apply`. */
export async function importFrom(
  system: string,
  folder: string | undefined,
  options: ImportCommandOptions,
): Promise<void> {
  if (!isSystem(system))
    throw new GatewayError("usage", `Unknown system ${system}. It can be ${SYSTEMS.join(", ")}.`);
  if (system !== "openclaw" && (options.all === true || options.keepUnsupported === true))
    throw new GatewayError("usage", "--all and --keep-unsupported are only for homes of OpenClaw.");
  const { home, loaded } = configuredHome(options);
  if (loaded.config.store.url !== undefined) throw new GatewayError("usage", POSTGRES);
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
    all: options.all === true,
    keepUnsupported: options.keepUnsupported === true,
    hiddenMessagesMs: loaded.config.retention.hiddenMessagesDays * DAY_MS,
    env: process.env,
    now,
    timeZone: getMachineTimeZone().name,
  };
  const report = importOptions.apply
    ? await withProgress("Importing", () => apply(home, importOptions, now))
    : await plan(home, importOptions);
  print(options.json, report, () => formatReport(report));
}

type Options = Parameters<typeof importHome>[2];

async function plan(home: Home, options: Options): Promise<ImportReport> {
  if (!existsSync(home.databaseFile)) return importHome(home, undefined, options);
  const store = await openStore({ path: home.databaseFile, access: "read" });
  return importHome(home, store, options).finally(() => store.close());
}

/** Imports while no gateway uses the home. */
async function apply(home: Home, options: Options, now: number): Promise<ImportReport> {
  prepareHome(home);
  const lock = lockHome(home);
  let store: SqliteStore | undefined;
  try {
    const backup = await backUp(home, now);
    store = await openStore({ path: home.databaseFile });
    const report = await importHome(home, store, options);
    return { ...report, backup };
  } finally {
    await store?.close();
    lock.release();
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
