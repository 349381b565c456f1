import { randomBytes } from "node:crypto";
import { formatProblem, loadConfig, type Problem } from "@signalbox/config";
import { ALL_SEATS, locateHome } from "@signalbox/home";
import { createRouter } from "@signalbox/routing";
import { openStore } from "@signalbox/store";
import type { ReplayHost } from "@signalbox/testkit/replay";
import { stringify } from "yaml";
import { readRecords } from "./cli/commands/replay-records.ts";
import { resolveAgents } from "./configure/agents.ts";
import { routeInput, routingConfig } from "./configure/routing.ts";
import { createGateway } from "./create-gateway.ts";
import type { GatewayBodies } from "./store.ts";
import { createDelegation } from "./triggers/delegation.ts";
import { listScheduled } from "./triggers/list-scheduled.ts";

/** Plays scenarios on this gateway. */
export const replayHost: ReplayHost = {
  workspace: (dir, agent) => locateHome(dir, {}).workspace(agent),
  async start({ home: dir, config: asked, env, clock }) {
    const token = randomBytes(32).toString("hex");
    const config = { ...asked, gateway: { port: 0, logLevel: "silent", auth: { token } } };
    const problems: Problem[] = [];
    const gateway = await createGateway({
      home: dir,
      config,
      env,
      clock,
      logLevel: "silent",
      onProblem: (problem) => problems.push(problem),
      onFatal: (error) => process.stderr.write(`${error.message}\n`),
    });
    await gateway.connected;
    const home = locateHome(dir, env);
    const beside = await openStore<GatewayBodies>({ path: home.databaseFile, access: "read" });
    const subAgents = createDelegation({
      store: beside,
      logger: { warn: () => {} },
      now: clock.now,
      seats: ALL_SEATS,
    });
    return {
      url: gateway.url,
      token,
      problems: problems.map(formatProblem),
      async pending() {
        const { inboxPending, outboxPending } = await gateway.service.status();
        const due = (await listScheduled(beside.kv)).filter(({ nextAt }) => nextAt <= clock.now());
        return (await subAgents.countOpen()) + due.length + inboxPending + outboxPending;
      },
      async stop() {
        await beside.close();
        await gateway.stop();
      },
      async records() {
        const loaded = loadConfig({ file: home.configFile, text: stringify(config), env });
        const router = createRouter(routingConfig(loaded.config, resolveAgents(loaded, home)));
        const store = await openStore<GatewayBodies>({ path: home.databaseFile });
        try {
          return await readRecords(store, (event) => router.explain(routeInput(event)));
        } finally {
          await store.close();
        }
      },
    };
  },
};
