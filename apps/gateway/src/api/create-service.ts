import type { Budget } from "@signalbox/budgets";
import type { Upkeep } from "@signalbox/home";
import type { LaneItem, Lanes } from "@signalbox/lanes";
import type { AgentInfo, ApprovalInfo, ConfigurationState, Status } from "@signalbox/protocol";
import { formatSessionKey } from "@signalbox/routing";
import type { Reading } from "@signalbox/runs";
import type { GatewayService, LiveHub } from "@signalbox/server";
import type { LeaseToken } from "@signalbox/store";
import type { Auditor } from "@signalbox/store/audit";
import type { Metrics } from "@signalbox/telemetry";
import { type Approval, type Approvals, type Trust, type UserQuestions, visibleLine } from "@signalbox/tools";
import type { Accounts } from "../configure/accounts.ts";
import type { Agent, Agents } from "../configure/agents.ts";
import type { Models } from "../configure/models.ts";
import { type ActivityPorts, readActivity } from "./activity.ts";
import type { FileDesk } from "./carried-files.ts";
import { runChecks } from "./checks.ts";
import { uploaderOf } from "./client-message.ts";
import { listConversations, removeConversation, renameConversation } from "./conversation.ts";
import { readHistory } from "./conversation-history.ts";
import type { KeptExchanges } from "./exchange.ts";
import { type SubAgentsPort, stopSubAgents } from "./made-sub-agents.ts";
import { openWork } from "./open-work.ts";
import { listSessions } from "./overview.ts";
import { createPairings } from "./pairings.ts";
import type { ServiceStore } from "./service-store.ts";
import { createSubmit, type SubmitPorts } from "./submit.ts";
import { type ExplainRoute, messageInfo, readTrace, readWhy } from "./traces.ts";
import { readUsage } from "./usage.ts";

export interface ServiceOptions extends SubmitPorts {
  /** Of the host, as its clients are told it. */
  readonly version: string;
  readonly store: ServiceStore;
  readonly explainRoute: ExplainRoute;
  /** What of the configuration file does not apply just now. */
  readonly configuration: () => ConfigurationState;
  /** What of an answer people get to see. */
  readonly reading: Reading;
  readonly agents: Pick<Agents, "all" | "get" | "defaultId">;
  readonly models: Pick<Models, "of" | "demo">;
  readonly accounts: Pick<Accounts, "get" | "list">;
  readonly lanes: Pick<Lanes<LaneItem>, "busy" | "stop" | "counts">;
  readonly subAgents: SubAgentsPort;
  readonly live: LiveHub;
  readonly exchanges: KeptExchanges;
  readonly userQuestions: Pick<UserQuestions, "forget">;
  /** Keeps files that clients send, each client's by itself. */
  readonly uploads: Pick<FileDesk, "add">;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly now: () => number;
  readonly approvals: Pick<Approvals, "list"> & {
    resolve(
      id: string,
      decision: "allow" | "allow-always" | "deny",
      approver: string,
    ): Promise<{ readonly ok: boolean }>;
  };
  readonly trust: Trust;
  readonly audit: Pick<Auditor, "trusted" | "pairing">;
  readonly lease: LeaseToken;
  /** As they are configured just now. */
  readonly budgets: () => readonly Budget[];
  /** Commands of agents that go on in the background. */
  readonly commands: ActivityPorts["commands"];
  /** Ends those of a conversation. */
  readonly endCommands: (sessionKey: string) => Promise<void>;
  /** Ends the schedules of a conversation. */
  readonly endSchedules: (sessionKey: string) => Promise<void>;
  readonly outboxInFlight: () => number;
  readonly metrics: Pick<Metrics, "scrape">;
  readonly wakeOutbox: () => void;
  /** Somebody was let in, who is to hear of it. */
  readonly onPaired: () => void;
  readonly upkeep: Pick<Upkeep, "prune" | "vacuum">;
  /** What agents do by themselves, as its host has them do it. */
  readonly schedules: Pick<GatewayService, "schedules" | "addSchedule" | "removeSchedule" | "runSchedule">;
  /** Takes secrets out of what a channel says of its state. */
  readonly redact: (text: string) => string;
}

/** What the HTTP surface does, on top of the way of a message. */
export function createService(options: ServiceOptions): GatewayService {
  const { store, agents, lanes, approvals, upkeep } = options;
  return {
    ...createSubmit(options),
    version: options.version,
    live: options.live,
    sessionKey,
    ready: options.ready,
    upload: ({ client, id, at, bytes }) => options.uploads.add({ owner: uploaderOf(client), id, at, bytes }),
    agents: () => agentsOf(options),
    busy: (key) => lanes.busy(key),
    async abort(channel, agent, conversation) {
      const reason = new Error("stopped by the user");
      const key = sessionKey(channel, agent, conversation);
      const { running, dropped } = lanes.stop(key, reason);
      await stopSubAgents({ ...options, stop: (...stopped) => lanes.stop(...stopped) }, key, reason);
      return running || dropped > 0;
    },
    conversations: (prefix) => listConversations(store, prefix),
    async history(conversation) {
      const session = await webSession(options, conversation);
      return session && readHistory(options, session.key);
    },
    renameConversation: (conversation, title) => renameConversation(store, conversation, title),
    removeConversation: (conversation) => removeConversation(options, conversation),
    sessions: () => listSessions(store, lanes),
    latestMessages: async (key) =>
      (await store.inbox.list({ limit: 100, ...(key === undefined ? {} : { sessionKey: key }) })).map(
        messageInfo,
      ),
    why: (messageId, language) => readWhy(store, messageId, language, options.explainRoute),
    ...createPairings(store, options.audit, options.onPaired),
    ...options.schedules,
    trace: (messageId) => readTrace(store, messageId, options.explainRoute),
    async approvals() {
      return (await approvals.list({ states: ["pending"] })).toReversed().map(approvalOf);
    },
    async decideApproval(id, answer, approver) {
      const decision = answer === "allow-once" ? "allow" : answer;
      return (await approvals.resolve(id.toUpperCase(), decision, approver)).ok;
    },
    async trust(agentId, path, owner) {
      const agent = agentId === undefined ? agents.get(agents.defaultId) : agents.get(agentId);
      if (agent === undefined)
        return { ok: false, message: `There is no agent ${agentId ?? agents.defaultId}.` };
      const trusted = await options.trust(agent, path);
      if (trusted.ok) options.audit.trusted(agent.id, trusted.path, owner);
      return trusted;
    },
    activity: () => readActivity({ ...options, schedules: options.schedules.schedules }),
    usage: (query) => readUsage(store, options.budgets(), query, options.now()),
    status: () => statusOf(options),
    checks: (withModels) => runChecks(options, withModels),
    metrics() {
      const { running, waiting } = lanes.counts();
      const outboxSending = options.outboxInFlight();
      return options.metrics.scrape({ runsActive: running, messagesWaiting: waiting, outboxSending });
    },
    outboxChanged: options.wakeOutbox,
    prune: upkeep.prune,
    vacuum: upkeep.vacuum,
    async webhook(channel, account, request, read) {
      return options.accounts.get(channel, account)?.running.webhook?.(request, read);
    },
  };
}

const sessionKey: GatewayService["sessionKey"] = (channel, agentId, conversation) =>
  formatSessionKey({ kind: "direct", agentId, channel, peerId: conversation });

function agentsOf({ agents, models }: ServiceOptions): AgentInfo[] {
  return agents.all.map((agent: Agent) => {
    const chosen = models.of(agent);
    const model = chosen ? `${chosen.model.provider}/${chosen.model.id}` : (agent.model ?? "none");
    const { id, name } = agent;
    return { id, name, model, demo: chosen?.demo === true, default: id === agents.defaultId };
  });
}

/** The newest one, where several agents have talked in a conversation. */
async function webSession({ store, agents }: ServiceOptions, conversation: string) {
  const keys = agents.all.map(({ id }) => sessionKey("web", id, conversation));
  const sessions = (await Promise.all(keys.map((key) => store.sessions.get(key)))).flatMap(
    (one) => one ?? [],
  );
  if (sessions.length > 0) return sessions.toSorted((a, b) => b.updatedAt - a.updatedAt)[0];
  // Of an agent that is not configured any more.
  const [gone] = await store.sessions.list({ channel: "web", peer: conversation, limit: 1 });
  return gone;
}

/** What is asked, every text of it as a person can judge it. */
function approvalOf({ id, agentId, sessionKey, tool, reason, subject, expiresAt }: Approval): ApprovalInfo {
  const { binary, files, cwd, domains, env } = subject;
  return {
    id,
    agent: agentId,
    sessionKey,
    tool,
    reason,
    expiresAt,
    action: subject.action,
    ...(binary === undefined ? {} : { binary: visibleLine(binary) }),
    ...(files === undefined
      ? {}
      : { files: files.map(({ path, sha256 }) => ({ path: visibleLine(path), sha256 })) }),
    ...(cwd === undefined ? {} : { cwd: visibleLine(cwd) }),
    ...(domains === undefined ? {} : { domains: domains.map(visibleLine) }),
    ...(env === undefined
      ? {}
      : {
          env: Object.fromEntries(
            Object.entries(env).map(([name, value]) => [visibleLine(name), visibleLine(value)]),
          ),
        }),
  };
}

async function statusOf(options: ServiceOptions): Promise<Status> {
  const { inbox, outbox } = await openWork(options.store);
  const channels = options.accounts.list();
  const configuration = options.configuration();
  const redacted = configuration.errors.map((error) => ({
    ...error,
    message: options.redact(error.message),
  }));
  return {
    version: options.version,
    demo: options.models.demo,
    startedAt: options.startedAt,
    agents: agentsOf(options),
    channels: channels.map((one) =>
      one.reason === undefined ? one : { ...one, reason: options.redact(one.reason) },
    ),
    configuration: { ...configuration, errors: redacted },
    inboxPending: inbox,
    outboxPending: outbox,
  };
}
