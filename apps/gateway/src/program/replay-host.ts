import type { AgentMessage } from "@signalbox/agent-core";
import { formatProblem, loadConfig, type Problem } from "@signalbox/config";
import { locateHome } from "@signalbox/home";
import { createRouter, type Router } from "@signalbox/routing";
import { readTrace } from "@signalbox/service";
import { resolveAgents, routingConfig } from "@signalbox/setup";
import { openStore } from "@signalbox/store";
import type { GatewayRecords, PerformedMessage, PerformedTool, ReplayHost } from "@signalbox/testkit/replay";
import { createDelegation, listWakes } from "@signalbox/wakes";
import { stringify } from "yaml";
import { createGateway } from "../create-gateway.ts";
import { routeInput } from "../path/2-admit/route.ts";
import type { GatewayBodies, GatewayStore } from "../store.ts";

const LIMIT = 1_000;

/** Plays scenarios on this gateway. */
export const replayHost: ReplayHost = {
  workspace: (dir, agent) => locateHome(dir, {}).workspace(agent),
  async start({ home: dir, config: asked, env, clock }) {
    const config = { ...asked, gateway: { port: 0, logLevel: "silent" } };
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
    const subAgents = createDelegation({ store: beside, logger: { warn: () => {} }, now: clock.now });
    return {
      url: gateway.url,
      problems: problems.map(formatProblem),
      async pending() {
        const { inboxPending, outboxPending } = await gateway.service.status();
        const due = (await listWakes(beside.kv)).filter(({ nextAt }) => nextAt <= clock.now());
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
          return await readRecords(store, router);
        } finally {
          await store.close();
        }
      },
    };
  },
};

async function readRecords(store: GatewayStore, router: Router): Promise<GatewayRecords> {
  const states = ["pending", "sending", "sent", "uncertain", "dead", "expired"] as const;
  const outbox = (await store.outbox.list({ states, limit: LIMIT })).toReversed();
  const sessions = await store.sessions.list();
  const transcripts = await Promise.all(sessions.map(({ key }) => store.sessions.transcript(key)));
  return {
    messages: await readMessages(store, router),
    tools: transcripts.flatMap((rows) => toolsIn(rows.map(({ message }) => message).toReversed())),
    outbox: outbox.map(({ id, key, state, channel, address, payload, receipts }) => ({
      id,
      key,
      state,
      channel,
      address,
      payload,
      receipts,
    })),
  };
}

async function readMessages(store: GatewayStore, router: Router): Promise<PerformedMessage[]> {
  const rows = (await store.inbox.list({ limit: LIMIT })).toSorted((a, b) => a.seq - b.seq);
  const messages: PerformedMessage[] = [];
  for (const { id, messageId = id, state, payload, detail, route } of rows) {
    const trace = await readTrace(store, id);
    messages.push({
      id: messageId,
      state,
      inbound: payload.event,
      route: router.explain(routeInput(payload.event)),
      ...(detail?.rule === undefined ? {} : { rule: detail.rule }),
      ...(route === undefined ? {} : { agent: route.agentId, sessionKey: route.sessionKey }),
      trace: trace?.entries ?? [],
    });
  }
  return messages;
}

/** The calls of a transcript, the oldest message first, with what came of each. */
function toolsIn(transcript: readonly AgentMessage[]): PerformedTool[] {
  const args = new Map<string, unknown>();
  return transcript.flatMap((message): PerformedTool[] => {
    if (message.role === "assistant") {
      for (const block of message.content)
        if (block.type === "toolCall") args.set(block.id, block.args ?? block.argsText);
    }
    if (message.role !== "toolResult") return [];
    const { toolName: name, toolCallId, isError, content, details } = message;
    const text = content.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("\n");
    return [
      { name, args: args.get(toolCallId), isError, text, ...(details === undefined ? {} : { details }) },
    ];
  });
}
