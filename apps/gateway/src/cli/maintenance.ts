import { GatewayError, readConfig } from "@signalbox/home";
import { createRedactor } from "@signalbox/redaction";
import { createMemoryLabelStore, openFileLabels } from "@signalbox/tools";
import { createMedia, createWebFetch } from "../compose/media.ts";
import { createLogger } from "../log.ts";
import { resolveAgents } from "../resolve/agents.ts";
import { pruneStore } from "../upkeep/pruning.ts";
import type { CommonOptions } from "./common-options.ts";
import { withStore } from "./home-store.ts";
import { print } from "./output.ts";
import { isHeld, runningGateway } from "./running.ts";

/** `signalbox maintenance prune`: removes what is over its time or number now, attachments included. */
export async function prune(options: CommonOptions): Promise<void> {
  const report = await inGateway(options, "maintenance/prune", async (store, home) => {
    const loaded = readConfig(home, process.env);
    const { config } = loaded;
    const logger = createLogger("warn", createRedactor([]));
    const now = Date.now;
    const done = await pruneStore(store, config.retention, logger);
    const agents = resolveAgents(loaded, home);
    const labels = await openFileLabels(createMemoryLabelStore());
    const media = { config, home, labels, store, agents, logger, now, fetch: createWebFetch(config) };
    await createMedia({ ...media, account: () => undefined }).prune();
    return done;
  });
  print(options.json, report, () =>
    Object.entries(report).map(([what, count]) => `${String(count).padStart(12)}  ${WORDS[what] ?? what}`),
  );
}

const WORDS: Readonly<Record<string, string>> = {
  inbox: "ended messages removed",
  dedupe: "keys against redelivery removed",
  runs: "journals of runs removed",
  outbox: "replies removed",
  traces: "trace rows removed",
  messages: "messages that their conversation had left behind removed",
  sessions: "conversations removed",
  kv: "notes removed",
  usedBytes: "bytes in use",
};

/** `signalbox maintenance vacuum`: gives free pages back to the file system. */
export async function vacuum(options: CommonOptions): Promise<void> {
  const report = await inGateway(options, "maintenance/vacuum", (store) => store.admin.vacuum());
  print(options.json, report, () => [`${report["freedBytes"] ?? 0} bytes were given back.`]);
}

type Report = Readonly<Record<string, number>>;

/** A gateway that runs does it itself: it waits with its writes for as long as that takes, and knows what it needs. */
async function inGateway(
  options: CommonOptions,
  path: string,
  alone: (...args: Parameters<Parameters<typeof withStore>[2]>) => Promise<object>,
): Promise<Report> {
  if (!isHeld(options.home)) return numbersOf(await withStore(options, "share", alone));
  const { tell } = await runningGateway(options.home).catch(() => {
    throw new GatewayError(
      "unavailable",
      "A gateway holds this home and cannot be reached from here. Try again, or stop it first.",
    );
  });
  return numbersOf(await tell(path));
}

function numbersOf(report: unknown): Report {
  if (report === null || typeof report !== "object")
    throw new GatewayError("failure", "The gateway gave an answer that this command does not understand.");
  return Object.fromEntries(
    Object.entries(report).filter((entry): entry is [string, number] => typeof entry[1] === "number"),
  );
}
