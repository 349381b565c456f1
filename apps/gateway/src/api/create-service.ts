import type { Maintenance } from "@signalbox/home";
import { REPLY_FILTER } from "@signalbox/prompt";
import type { ConfigurationState, Status } from "@signalbox/protocol";
import { formatSessionKey } from "@signalbox/routing";
import { ApiError, type GatewayService } from "@signalbox/server";
import { createMcpService } from "../agent/mcp-service.ts";
import { getBudgets } from "../configure/budgets.ts";
import { explainRoute } from "../configure/routing.ts";
import type { GatewayContext } from "../context.ts";
import { type ExplainRoute, readTrace, readWhy } from "../messages/traces.ts";
import { requestAtSeat } from "../pipeline/control.ts";
import { createScheduleHandler } from "../triggers/schedule-handler.ts";
import { VERSION } from "../version.ts";
import { readActivity } from "./activity.ts";
import type { ConfigurationReload } from "./admin/configuration.ts";
import { createAdmin } from "./admin/create-admin.ts";
import { toApprovalInfo } from "./approval-info.ts";
import { runChecks } from "./checks.ts";
import { getUploadOwner } from "./client-message.ts";
import { readCluster } from "./cluster.ts";
import { listCommands } from "./command-list.ts";
import { listConversations, removeConversation, renameConversation } from "./conversation.ts";
import { readHistory } from "./conversation-history.ts";
import { readGauges } from "./gauges.ts";
import { listAgents } from "./list-agents.ts";
import { searchMessages } from "./message-list.ts";
import { openWork } from "./open-work.ts";
import { listSessions } from "./overview.ts";
import { createPairings } from "./pairings.ts";
import { readPairedNames } from "./person-names.ts";
import { addLastRuns } from "./schedule-results.ts";
import { createSeatedSchedules } from "./seated-schedules.ts";
import { sendMessage } from "./send-message.ts";
import { speakAnswer } from "./speak-answer.ts";
import { createSubmit } from "./submit.ts";
import { trustFile } from "./trust-file.ts";
import { readUsage, readUsageSeries } from "./usage.ts";

export interface ServiceOptions {
  readonly maintenance: Maintenance;
  readonly configuration: ConfigurationReload;
  /** Returns true while messages are accepted. */
  readonly isReady: () => boolean;
}

/** Creates the service that the HTTP server calls. */
export function createService(ctx: GatewayContext, options: ServiceOptions): GatewayService {
  const { store, config, accounts, lanes, toolbox, audit, delivery, clientFiles } = ctx;
  const { approvals } = toolbox;
  const { maintenance } = options;
  const explain: ExplainRoute = (event) => explainRoute(ctx.router(), event);
  const schedules = createScheduleHandler({ ...ctx, scheduled: createSeatedSchedules(ctx) });
  return {
    ...createSubmit(ctx, options.isReady),
    admin: createAdmin(ctx, options.configuration),
    version: VERSION,
    mcp: createMcpService(ctx),
    sendMessage: (key, text, sender) => sendMessage(ctx, key, text, sender),
    live: ctx.live,
    sessionKey,
    ready: options.isReady,
    storeFault: () => ctx.storeHealth.fault(),
    upload: ({ client, id, at, bytes }) =>
      clientFiles.uploads.add({ owner: getUploadOwner(client), id, at, bytes }),
    agents: () => listAgents(config),
    busy: (key) => lanes.busy(key) || ctx.liveRelay?.isBusy(key) === true,
    async abort(channel, agentId, conversation) {
      const session = { agentId, sessionKey: sessionKey(channel, agentId, conversation) };
      return (await requestAtSeat(ctx, session, { kind: "stop" })) === true;
    },
    conversations: (prefix) => listConversations(store, prefix),
    async history(conversation) {
      const session = await webSession(ctx, conversation);
      return session && readHistory({ store, exchanges: ctx.exchanges, filter: REPLY_FILTER }, session.key);
    },
    canSpeak: () => ctx.speech.getState().isConfigured,
    async speak(conversation, messageId, client) {
      const session = await webSession(ctx, conversation);
      if (session === undefined) throw new ApiError("not_found", `There is no conversation ${conversation}.`);
      const { key: sessionKey, agentId } = session;
      const history = await readHistory(
        { store, exchanges: ctx.exchanges, filter: REPLY_FILTER },
        sessionKey,
      );
      return speakAnswer(ctx, { agentId, sessionKey, conversation, messageId, history }, client);
    },
    renameConversation: (conversation, title) => renameConversation(store, conversation, title),
    removeConversation: (conversation) => removeConversation(ctx, conversation),
    sessions: () => listSessions(store, lanes),
    async transcript(key, before) {
      const session = await store.sessions.get(key);
      if (session === undefined) return undefined;
      const names = await readPairedNames(store);
      return readHistory({ store, exchanges: ctx.exchanges, filter: REPLY_FILTER, names }, key, before);
    },
    messages: (query) => searchMessages(store, query),
    commands: (query, { role }) => listCommands(ctx, query, role === "owner" ? "owner" : "member"),
    why: (messageId, language) => readWhy(store, messageId, language, explain),
    ...createPairings({
      store,
      audit,
      getAccess: () => config.current().loaded.config.access,
      onPaired: () => void delivery.pairingNotices.poll(),
    }),
    ...schedules,
    schedules: async () => addLastRuns(store, await schedules.schedules()),
    trace: (messageId) => readTrace(store, messageId, explain),
    async approvals() {
      return (await approvals.list({ states: ["pending"] })).toReversed().map(toApprovalInfo);
    },
    async decideApproval(id, answer, approver) {
      const decision = answer === "allow-once" ? "allow" : answer;
      return (await approvals.resolve(id.toUpperCase(), decision, approver)).ok;
    },
    trust: (request, owner) => trustFile(ctx, request, owner),
    activity: () =>
      readActivity({
        store,
        live: ctx.live,
        redact: ctx.redact,
        commands: () => toolbox.commands(),
        schedules: schedules.schedules,
      }),
    usage: (query) => readUsage(store, getBudgets(config.current().settings), query, ctx.now()),
    usageSeries: (query) => readUsageSeries(store, query, ctx.now()),
    status: () => getStatus(ctx, options.configuration.state()),
    nodes: () => readCluster(ctx),
    checks: (withModels) => runChecks(ctx, withModels),
    metrics: async () => ctx.metrics.scrape(await readGauges(ctx)),
    outboxChanged: () => delivery.wake(),
    prune: maintenance.prune,
    vacuum: maintenance.vacuum,
    async webhook(channel, account, request, read) {
      const running = accounts.get(channel, account)?.running;
      // The account starts, or waits for its lease. The platform delivers the event again.
      if (running === undefined && accounts.definition(channel, account) !== undefined)
        return new Response(null, { status: 503, headers: { "retry-after": "1" } });
      return running?.webhook?.(request, read);
    },
  };
}

const sessionKey: GatewayService["sessionKey"] = (channel, agentId, conversation) =>
  formatSessionKey({ kind: "direct", agentId, channel, peerId: conversation });

/** Returns the newest web session of a conversation in which several agents may have answered. */
async function webSession({ store, config }: GatewayContext, conversation: string) {
  const { agents } = config.current();
  const keys = agents.all.map(({ id }) => sessionKey("web", id, conversation));
  const sessions = (await Promise.all(keys.map((key) => store.sessions.get(key)))).flatMap(
    (one) => one ?? [],
  );
  if (sessions.length > 0) return sessions.toSorted((a, b) => b.updatedAt - a.updatedAt)[0];
  // The agent of the session may have been removed from the configuration.
  const [gone] = await store.sessions.list({ channel: "web", peer: conversation, limit: 1 });
  return gone;
}

async function getStatus(ctx: GatewayContext, configuration: ConfigurationState): Promise<Status> {
  const { config, redact } = ctx;
  const { inbox, outbox } = await openWork(ctx.store);
  const errors = configuration.errors.map((error) => ({ ...error, message: redact(error.message) }));
  return {
    version: VERSION,
    newerVersion: ctx.updates.newer(),
    demo: config.current().models.demo,
    startedAt: ctx.startedAt,
    agents: listAgents(config),
    channels: ctx.accounts
      .list()
      .map((one) => (one.reason === undefined ? one : { ...one, reason: redact(one.reason) })),
    configuration: { ...configuration, errors },
    inboxPending: inbox,
    outboxPending: outbox,
  };
}
