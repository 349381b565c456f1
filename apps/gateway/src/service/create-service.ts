import { isDeepStrictEqual } from "node:util";
import { normalizeEvent, normalizeTurn } from "@signalbox/channel";
import { attachmentOf, type WebMessage } from "@signalbox/channel-web";
import type { Lanes } from "@signalbox/lanes";
import type { RunOutcome } from "@signalbox/protocol";
import { formatSessionKey, type Router } from "@signalbox/routing";
import type { GatewayService, LiveHub, Outcome, Outcomes, Principal, Submission } from "@signalbox/server";
import type { PlatformMessage } from "@signalbox/store";
import type { Metrics } from "@signalbox/telemetry";
import type { Approvals } from "@signalbox/tools";
import type { Queued } from "../path/4-queue/message.ts";
import { type Accounts, OWN_ACCOUNT } from "../resolve/accounts.ts";
import type { Agents } from "../resolve/agents.ts";
import type { Models } from "../resolve/models.ts";
import type { Surfaces } from "../resolve/surfaces.ts";
import type { GatewayStore } from "../store.ts";
import { readTrace } from "../traces.ts";
import type { Upkeep } from "../upkeep/upkeep.ts";
import { VERSION } from "../version.ts";
import { listConversations, readConversation } from "./conversation.ts";
import { endOfKnown } from "./kept-outcome.ts";

export interface ServiceOptions {
  readonly store: GatewayStore;
  readonly router: Pick<Router, "explain">;
  readonly agents: Agents;
  readonly models: Models;
  readonly accounts: Accounts;
  readonly lanes: Lanes<Queued>;
  readonly surfaces: Surfaces;
  readonly live: LiveHub;
  readonly outcomes: Outcomes;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly now: () => number;
  readonly approvals: Pick<Approvals, "list" | "resolve">;
  readonly outboxInFlight: () => number;
  readonly metrics: Pick<Metrics, "scrape">;
  readonly wakeOutbox: () => void;
  readonly upkeep: Pick<Upkeep, "prune" | "vacuum">;
  /** Takes secrets out of what a channel says of its state. */
  readonly redact: (text: string) => string;
  readonly ready: () => boolean;
}

const REMEMBERED_ENDS = 1_000;

/** The end of a message where the store cannot say it. */
const UNREADABLE: Outcome = {
  state: "failed",
  text: "",
  error: { code: "internal", message: "The gateway cannot read how this message ended." },
};

/** What the HTTP surface does, on top of the way of a message. */
export function createService(options: ServiceOptions): GatewayService {
  const { store, agents, models, accounts, lanes, live, outcomes } = options;
  const lastRuns = new Map<string, { runId: string; outcome: RunOutcome }>();

  const agentInfo = () =>
    agents.all.map((agent) => {
      const chosen = models.of(agent);
      const model = chosen ? `${chosen.model.provider}/${chosen.model.id}` : (agent.model ?? "none");
      return {
        id: agent.id,
        name: agent.name,
        model,
        demo: chosen?.demo === true,
        default: agent.id === agents.defaultId,
      };
    });
  const sessionKey: GatewayService["sessionKey"] = (channel, agentId, conversation) =>
    formatSessionKey({ kind: "direct", agentId, channel, peerId: conversation });
  /** The newest one, where several agents have talked in a conversation. */
  const webSession = async (conversation: string) => {
    const keys = agents.all.map(({ id }) => sessionKey("web", id, conversation));
    const found = (await Promise.all(keys.map((key) => store.sessions.get(key)))).flatMap((one) => one ?? []);
    if (found.length > 0) return found.toSorted((a, b) => b.updatedAt - a.updatedAt)[0];
    // Of an agent that is not configured any more.
    const [gone] = await store.sessions.list({ channel: "web", peer: conversation, limit: 1 });
    return gone;
  };

  /** How the last run of each session ended, for clients that were away. */
  const remembered = (key: string, outcome: Outcome): Outcome => {
    const { runId, state } = outcome;
    if (runId === undefined || state === "ignored") return outcome;
    lastRuns.delete(key);
    lastRuns.set(key, { runId, outcome: state });
    const [oldest] = lastRuns.keys();
    if (lastRuns.size > REMEMBERED_ENDS && oldest !== undefined) lastRuns.delete(oldest);
    return outcome;
  };

  return {
    version: VERSION,
    live,
    agents: agentInfo,
    sessionKey,
    ready: options.ready,
    busy: (key) => lanes.busy(key),
    lastRun: (key) => lastRuns.get(key),
    abort(channel, agent, conversation) {
      const reason = new Error("stopped by the user");
      const { running, dropped } = lanes.stop(sessionKey(channel, agent, conversation), reason);
      return running || dropped > 0;
    },
    async submit(submission) {
      if (!options.ready()) return { kind: "refused", code: "stopping", message: "The gateway is stopping." };
      const { channel, agent, conversation } = submission;
      if (!agents.get(agent))
        return { kind: "refused", code: "no_agent", message: `There is no agent ${agent}.` };
      const key = sessionKey(channel, agent, conversation);
      const message = { channel, account: OWN_ACCOUNT, messageId: submission.id };
      const expected = outcomes.expect(message);
      const sent = messageOfClient(submission);
      const result = await options.surfaces[channel].submit(sent).catch((error) => {
        expected.forget();
        throw error;
      });
      if (result === "accepted") {
        const done = expected.done.then((outcome) => remembered(key, outcome));
        return { kind: "accepted", messageId: submission.id, sessionKey: key, done };
      }
      expected.forget();
      if (result === "duplicate") {
        if (channel === "api" && !(await isSameRequest(store, message, sent)))
          return { kind: "refused", code: "id_taken", message: "Another message came under this id before." };
        const done = endOfKnown(store, outcomes, message).catch(() => UNREADABLE);
        return { kind: "duplicate", messageId: submission.id, sessionKey: key, done };
      }
      return {
        kind: "refused",
        code: "full",
        message: "The gateway has too many unanswered messages. Try again soon.",
      };
    },
    async answer(messageId, client) {
      const message = { channel: "api", account: OWN_ACCOUNT, messageId };
      const asked = await store.inbox.find(message);
      if (client.role !== "owner" && asked?.senderId !== senderOf(client).id) return undefined;
      const { state, text } = await endOfKnown(store, outcomes, message);
      return state === "replied" || state === "silent" ? text : undefined;
    },
    conversations: (prefix) => listConversations(store, prefix),
    async messages(conversation) {
      const session = await webSession(conversation);
      if (!session) return undefined;
      return readConversation(store, session.key);
    },
    trace: (messageId) => readTrace(store, messageId, options.router),
    async approvals() {
      const open = await options.approvals.list({ states: ["pending"] });
      return open
        .toReversed()
        .map(({ id, agentId: agent, sessionKey: key, tool, reason, subject, expiresAt }) => ({
          ...{ id, agent, sessionKey: key, tool, reason, expiresAt, action: subject.action },
          ...(subject.binary === undefined ? {} : { binary: subject.binary }),
          ...(subject.cwd === undefined ? {} : { cwd: subject.cwd }),
          ...(subject.env === undefined ? {} : { env: { ...subject.env } }),
        }));
    },
    async answerApproval(id, answer, approver) {
      return (await options.approvals.resolve(id.toUpperCase(), answer, approver)).ok;
    },
    async status() {
      const stats = await store.maintenance.stats();
      const count = (states: Readonly<Record<string, number>>, names: readonly string[]): number =>
        names.reduce((sum, name) => sum + (states[name] ?? 0), 0);
      return {
        version: VERSION,
        demo: models.demoOnly,
        startedAt: options.startedAt,
        agents: agentInfo(),
        channels: accounts
          .list()
          .map((one) => (one.reason === undefined ? one : { ...one, reason: options.redact(one.reason) })),
        inboxPending: count(stats.inbox, ["accepted", "queued", "running"]),
        outboxPending: count(stats.outbox, ["pending", "sending"]),
      };
    },
    metrics() {
      const { running, waiting } = lanes.counts();
      return options.metrics.scrape({
        runsActive: running,
        messagesWaiting: waiting,
        outboxSending: options.outboxInFlight(),
      });
    },
    outboxChanged: options.wakeOutbox,
    prune: options.upkeep.prune,
    vacuum: options.upkeep.vacuum,
    async webhook(channel, account, request, read) {
      const found = accounts.get(channel, account);
      return found?.running.webhook?.(request, read);
    },
  };
}

/** The gateway's own token is no person: its conversations speak for themselves. */
const OWNER_NAME = "owner";

/** Whoever holds a token with a name. */
function senderOf({ name, role }: Principal) {
  return { id: `token:${name}`, name, authenticatedAs: role };
}

/** A submission as a message of its channel. */
function messageOfClient(submission: Submission): WebMessage {
  const { agent, conversation, id, text, from, instructions, history, sampling, verbatim, sender } =
    submission;
  const media = (submission.attachments ?? []).flatMap(
    ({ kind, url, name }) => attachmentOf(kind, url, name) ?? [],
  );
  return {
    conversation,
    user: sender === undefined || sender.name === OWNER_NAME ? { id: conversation } : senderOf(sender),
    id,
    text,
    ...(media.length === 0 ? {} : { media }),
    ...(from === undefined ? {} : { forwardedFrom: from }),
    turn: {
      agent,
      ...(instructions === undefined ? {} : { instructions }),
      ...(history === undefined ? {} : { history }),
      ...(sampling === undefined ? {} : { sampling }),
      ...(verbatim === undefined ? {} : { verbatim }),
    },
  };
}

/** Whether what was taken under an id is this very request: a client may name a key twice by mistake. */
async function isSameRequest(
  store: GatewayStore,
  named: PlatformMessage,
  { conversation, text, media = [], forwardedFrom, turn }: WebMessage,
): Promise<boolean> {
  const row = await store.inbox.find(named);
  if (row === undefined) return true;
  const { forwarded: _, turn: __, ...event } = row.payload.event;
  const repeated = normalizeEvent({
    ...event,
    conversation: { ...event.conversation, id: conversation },
    ...{ text, media },
    ...(forwardedFrom === undefined ? {} : { forwarded: { from: forwardedFrom } }),
    ...(turn === undefined ? {} : { turn: normalizeTurn(turn) }),
  });
  // As the store has it: what is undefined is not there.
  return isDeepStrictEqual(JSON.parse(JSON.stringify(repeated)), row.payload.event);
}
