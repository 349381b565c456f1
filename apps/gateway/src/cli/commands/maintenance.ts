import {
  type BodiesWithParts,
  GatewayError,
  getStoreUrl,
  locateHome,
  openVault,
  pruneStore,
  withDatabase,
} from "@signalbox/home";
import type { PruneReport } from "@signalbox/store";
import { createLogger } from "@signalbox/telemetry/logger";
import { createAgentWorkspaces, createMemoryLabelStore, openFileLabels } from "@signalbox/tools";
import { createMedia } from "../../agent/media.ts";
import { resolveAgents } from "../../configure/agents.ts";
import { openClientFiles } from "../../configure/client-files.ts";
import { openObjects } from "../../configure/objects.ts";
import { createWebFetch } from "../../configure/web-fetch.ts";
import type { ServiceBodies } from "../../messages/service-store.ts";
import type { CommonOptions } from "../common-options.ts";
import { configuredHome } from "../configured-home.ts";
import { withStore } from "../home-store.ts";
import { print } from "../output.ts";
import { withProgress } from "../progress.ts";
import { isHeld, runningGateway } from "../running.ts";

/** `signalbox maintenance prune`: removes data that exceeds its retention limits, including attachments. */
export async function prune(options: CommonOptions): Promise<void> {
  const report = await withProgress("Removing", () =>
    inGateway(options, "maintenance/prune", () => pruneHome(options)),
  );
  print(options.json, report, () =>
    Object.entries(WORDS).map(([what, words]) => `${String(report[what] ?? 0).padStart(12)}  ${words}`),
  );
}

/** Runs the gateway's periodic maintenance on a home without a running gateway. */
async function pruneHome(options: CommonOptions): Promise<PruneReport> {
  const { home, loaded, env } = configuredHome(options);
  const { config } = loaded;
  const logger = createLogger("warn", openVault(loaded, env).redact);
  const labels = await openFileLabels(createMemoryLabelStore());
  return withDatabase<BodiesWithParts & ServiceBodies, PruneReport>(home, "share", async (store) => {
    const report = await pruneStore(store.maintenance, config.retention, logger);
    const agents = resolveAgents(loaded, home);
    const objects = await openObjects(store, config.store, logger);
    const clientFiles = openClientFiles(home, { logger, now: Date.now });
    if (objects !== undefined) clientFiles.share(objects);
    const media = createMedia(
      {
        home,
        env,
        config: { current: () => ({ settings: config, agents }) },
        store,
        web: createWebFetch(config),
        objects,
        clientFiles,
        getAccount: () => undefined,
        logger,
        now: Date.now,
      },
      { workspaces: createAgentWorkspaces({ forbidden: home.closed, labels }) },
    );
    await media.prune();
    return report;
  });
}

const WORDS: Readonly<Record<keyof PruneReport, string>> = {
  inbox: "finished messages removed",
  dedupe: "redelivery keys removed",
  runs: "run journals removed",
  outbox: "replies removed",
  traces: "trace rows removed",
  messages: "messages no longer part of a conversation removed",
  sessions: "conversations removed",
  kv: "expired values removed",
  approvals: "approval questions removed",
  usedBytes: "bytes in use",
};

const NO_VACUUM = "PostgreSQL reuses free space by itself. This command is for SQLite files.";

/** `signalbox maintenance vacuum`: returns free pages of the database to the file system. */
export async function vacuum(options: CommonOptions): Promise<void> {
  const home = locateHome(options.home, process.env);
  if (getStoreUrl(home, process.env) !== undefined) throw new GatewayError("usage", NO_VACUUM);
  const report = await withProgress("Returning space", () =>
    inGateway(options, "maintenance/vacuum", () =>
      withStore(options, "share", async ({ admin }) => admin?.vacuum() ?? { freedBytes: 0 }),
    ),
  );
  print(options.json, report, () => [`${report["freedBytes"] ?? 0} bytes returned to the disk.`]);
}

type Report = Readonly<Record<string, number>>;

/** A running gateway vacuums the database itself, because writes must wait while the database is vacuumed. */
async function inGateway(
  options: CommonOptions,
  path: string,
  alone: () => Promise<object>,
): Promise<Report> {
  if (!isHeld(options.home)) return parseReport(await alone());
  const { tell } = await runningGateway(options.home).catch(() => {
    throw new GatewayError(
      "unavailable",
      "A gateway is using this home but cannot be reached from here. Try again, or stop it first.",
    );
  });
  return parseReport(await tell(path));
}

function parseReport(report: unknown): Report {
  if (report === null || typeof report !== "object")
    throw new GatewayError("failure", "The gateway sent a response that this command does not understand.");
  return Object.fromEntries(
    Object.entries(report).filter((entry): entry is [string, number] => typeof entry[1] === "number"),
  );
}
