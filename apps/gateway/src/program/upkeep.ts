import type { ConfiguredHome } from "@signalbox/cli";
import { pruneStore, withDatabase } from "@signalbox/home";
import { createRedactor } from "@signalbox/redaction";
import { resolveAgents } from "@signalbox/setup";
import type { PruneReport } from "@signalbox/store";
import { createLogger } from "@signalbox/telemetry/logger";
import { createAgentWorkspaces, createMemoryLabelStore, openFileLabels } from "@signalbox/tools";
import { createMedia } from "../compose/media.ts";
import { createWebFetch } from "../resolve/web-fetch.ts";
import type { GatewayBodies } from "../store.ts";

/** What upkeep of a gateway does by itself, on a home where none runs. */
export function prune({ home, loaded }: ConfiguredHome): Promise<PruneReport> {
  return withDatabase<GatewayBodies, PruneReport>(home, "share", async (store) => {
    const { config } = loaded;
    const logger = createLogger("warn", createRedactor([]));
    const report = await pruneStore(store.maintenance, config.retention, logger);
    const agents = resolveAgents(loaded, home);
    const labels = await openFileLabels(createMemoryLabelStore());
    const workspaces = createAgentWorkspaces({ forbidden: home.closed, labels });
    const { fetch } = createWebFetch(config);
    const media = { config: () => config, home, workspaces, store, agents, logger, now: Date.now, fetch };
    await createMedia({ ...media, account: () => undefined }).prune();
    return report;
  });
}
