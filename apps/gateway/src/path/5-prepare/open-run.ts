import type { CompactionCache } from "@signalbox/agent-core";
import type { Incoming, Outgoing } from "@signalbox/attachments";
import type { ChannelDefinition } from "@signalbox/channel";
import type { Drafts, Typing } from "@signalbox/delivery";
import {
  type Batch,
  type CrashCounts,
  createQuarantine,
  type Quarantine,
  type RunHandle,
  type Supervisor,
} from "@signalbox/lanes";
import type { Router } from "@signalbox/routing";
import type { LiveHub, Outcome } from "@signalbox/server";
import { type InboxId, type LeaseToken, type OutboxRow, StoreError } from "@signalbox/store";
import type { Agents } from "../../agents.ts";
import type { Commands } from "../../commands/commands.ts";
import { answerInTurn } from "../../commands/in-turn.ts";
import type { GatewayHooks } from "../../hooks/points.ts";
import type { Logger } from "../../log.ts";
import type { Metrics } from "../../metrics.ts";
import type { Models } from "../../models.ts";
import type { GatewayBodies, GatewayStore } from "../../store.ts";
import type { Toolbox } from "../../toolbox.ts";
import type { Tracer } from "../../trace/tracer.ts";
import {
  type MessageTicket,
  messagesIn,
  type ResumeTicket,
  resumeTicket,
  type Ticket,
} from "../4-queue/message.ts";
import { makeTurn } from "../6-run/run.ts";
import type { Askings } from "../6-run/waiting.ts";
import { failureNote, failWithoutRun } from "../7-conclude/conclude.ts";
import { giveUp, judgeRun, leftOf } from "../failures.ts";
import { ShutdownAbort } from "../shutdown.ts";
import { createAttachmentCrashes, POISON_ATTEMPTS } from "./attachment-crashes.ts";
import { chooseModel } from "./choose-model.ts";
import type { Histories } from "./history.ts";
import type { Links } from "./links.ts";
import type { Prompts } from "./prompt.ts";
import { seedOf } from "./session.ts";
import { resume } from "./take-up.ts";

export interface RunOptions {
  readonly store: GatewayStore;
  readonly lease: LeaseToken;
  readonly agents: Agents;
  readonly models: Models;
  readonly toolbox: Toolbox;
  readonly prompts: Prompts;
  readonly histories: Histories;
  readonly mediaOut: Outgoing;
  readonly mediaIn: Incoming;
  readonly links: Links;
  readonly askings: Askings;
  readonly hooks: GatewayHooks;
  /** What messages order beyond their plain text. */
  readonly readOrder: Commands["read"];
  /** Summaries of chunks, so that an interrupted compaction goes on where it was. */
  readonly compactionCache: CompactionCache;
  readonly router: Router;
  /** The channel of a configured account, also while the account does not run. */
  readonly definition: (channel: string, account: string) => ChannelDefinition | undefined;
  readonly live: LiveHub;
  readonly drafts: Drafts;
  readonly typing: Pick<Typing, "begin">;
  readonly tracer: Tracer;
  readonly metrics: Pick<Metrics, "timed" | "watchModel">;
  readonly logger: Logger;
  readonly now: () => number;
  readonly deliver: (rows: readonly OutboxRow<GatewayBodies>[]) => void;
  /** Told the end of each message. */
  readonly onOutcome: (id: InboxId, outcome: Outcome) => void;
  /** Tries again what a failing store breaks off. */
  readonly supervisor: Pick<Supervisor, "run">;
}

/** How long such a run may go on before others that may be to blame go on beside it, in milliseconds. */
const SUSPECT_ALONE_MS = 10_000;

export interface Runner {
  /** Answers a batch of messages, or goes on with a run that an earlier process left. Never rejects. */
  answer(batch: Batch<Ticket>, handle: RunHandle<Ticket>): Promise<void>;
  /** Gives what is not answered yet to the next process. That this one ends is no message's fault. */
  rest(): Promise<void>;
}

export function createRunner(options: RunOptions): Runner {
  const crashes: Crashes = {
    counts: createAttachmentCrashes(options.store),
    quarantine: createQuarantine({ aloneMs: SUSPECT_ALONE_MS }),
  };

  const start = async (batch: Batch<Ticket>, handle: RunHandle<Ticket>): Promise<void> => {
    const [first] = batch.items;
    if (first?.kind !== "resume")
      return begin(options, crashes, messagesIn(batch.items), messagesIn(batch.summarised), handle);
    const suspect = first.interrupted.run.attempts === POISON_ATTEMPTS - 1;
    const work = (): Promise<void> => resume(options, first, handle);
    await (suspect ? crashes.quarantine.run(handle.signal, work) : work());
  };

  /** Goes on with the run that the journal holds, and with the messages it does not have. */
  const goOn = async (
    sessionKey: string,
    tickets: readonly MessageTicket[],
    handle: RunHandle<Ticket>,
  ): Promise<void> => {
    const { held, waiting } = await leftOf(options.store, sessionKey, tickets);
    const resumed = held && resumeTicket(held);
    if (resumed === undefined) return begin(options, crashes, waiting, [], handle);
    const steering = [...waiting];
    await resume(options, resumed, {
      ...handle,
      takeSteering: () => {
        // They came before whatever waits in the lane.
        const before = handle.signal.aborted ? [] : steering.splice(0);
        const { items, summarised } = handle.takeSteering();
        return { items: [...before, ...items], summarised };
      },
    });
    await begin(options, crashes, steering, [], handle);
  };

  return {
    async answer(batch, lane) {
      const [first] = batch.items;
      if (first === undefined) return;
      const { sessionKey } = first;
      const tickets = messagesIn([...batch.summarised, ...batch.items]);
      const handle: RunHandle<Ticket> = {
        ...lane,
        takeSteering() {
          const taken = lane.takeSteering();
          tickets.push(...messagesIn([...taken.summarised, ...taken.items]));
          return taken;
        },
      };
      await options.supervisor.run({
        name: `answer in ${sessionKey}`,
        attempt: (failures) => (failures === 0 ? start(batch, handle) : goOn(sessionKey, tickets, handle)),
        judge: (error, failures) =>
          // The next process goes on with it.
          lane.signal.reason instanceof ShutdownAbort ? "retry" : judgeRun(error, failures),
        giveUp: (error) => giveUp(options, sessionKey, tickets, error),
        onWaiting: lane.standBy,
      });
    },
    async rest() {
      // What waits is not counted already, and must not be taken off twice.
      await options.askings.allOver();
      await options.store.runs.rest(options.lease);
      await crashes.counts.rest();
    },
  };
}

/** Runs that an earlier process left go on first, each before anything newer of its session. */
export async function resumeInterrupted(
  store: GatewayStore,
  enqueue: (ticket: ResumeTicket) => void,
  logger: Logger,
): Promise<void> {
  for (const interrupted of await store.runs.interrupted()) {
    const { id, sessionKey } = interrupted.run;
    logger.info({ run: id, session: sessionKey }, "an interrupted run goes on");
    const ticket = resumeTicket(interrupted);
    if (ticket) enqueue(ticket);
  }
}

/** What tells which message it is that ends the process. */
interface Crashes {
  readonly counts: CrashCounts;
  readonly quarantine: Quarantine;
}

async function begin(
  options: RunOptions,
  crashes: Crashes,
  tickets: readonly MessageTicket[],
  shortened: readonly MessageTicket[],
  handle: RunHandle<Ticket>,
): Promise<void> {
  const [first] = tickets;
  const last = tickets.at(-1);
  if (!first || !last) return;
  const { store, lease } = options;
  const { sessionKey, agentId } = first;
  const { order } = first;
  const named = options.agents.get(agentId);
  if (named && order !== undefined && order.kind !== "turn")
    return answerInTurn(options, { ticket: first, agent: named, order, handle });
  const { counts, quarantine } = crashes;
  const forget = async (over: readonly MessageTicket[]): Promise<void> => {
    for (const { id } of withAttachments(over)) await counts.end(id);
  };
  const before = await crashesBefore(counts, tickets);
  if (before.spent.length > 0) {
    const message = failureNote("poison");
    options.logger.error({ session: sessionKey, messages: before.spent.map(({ id }) => id) }, message);
    await failWithoutRun(options, before.spent, { code: "poison", message });
    await forget(before.spent);
    const left = tickets.filter((ticket) => !before.spent.includes(ticket));
    return left.length > 0
      ? begin(options, crashes, left, shortened, handle)
      : begin(options, crashes, shortened, [], handle);
  }
  const session = await store.sessions.get(sessionKey);
  const chosen = named && (await chooseModel(options, named, last, session));
  const all = [...shortened, ...tickets];
  if (!chosen) {
    const code = named ? "no_model" : "no_agent";
    const message = named
      ? `The agent ${agentId} has no usable model. Give its provider a key, or configure another model.`
      : `There is no working agent ${agentId}.`;
    options.logger.error({ agent: agentId, code }, message);
    return failWithoutRun(options, all, { code, message });
  }
  const { agent, agentModel } = chosen;

  const { conversation } = last.stored.event;
  const fresh = order?.kind === "turn" && order.fresh;
  if (
    session &&
    (fresh ||
      options.router.resetDue(conversation.kind, { lastMessageAt: session.updatedAt, now: options.now() }))
  ) {
    await store.sessions.reset(sessionKey, lease);
  }
  const seed = seedOf(last, agent);
  if (session === undefined && !fresh && last.stored.event.turn?.history !== undefined) {
    await store.sessions.ensure(seed);
    await store.sessions.append(sessionKey, options.prompts.seedMessages(last), lease);
  }
  const current = await store.sessions.get(sessionKey);
  const history = await options.histories.load(sessionKey, current);
  const isLeft = ({ id }: MessageTicket): boolean => !handle.recalled.has(id);
  const start = async () => {
    for (const { id } of withAttachments(tickets)) await counts.begin(id);
    for (;;) {
      const left = all.filter(isLeft);
      if (left.length === 0) return undefined;
      const short = shortened.filter(isLeft);
      const spoken = await options.prompts.userMessages(tickets.filter(isLeft));
      // One of them may have been deleted meanwhile. Nothing may come between here and the begin.
      if (!left.every(isLeft)) continue;
      const input = short.length > 0 ? [options.prompts.summary(short), ...spoken] : spoken;
      const begun = await store.runs.begin({
        session: seed,
        lease,
        inboxIds: left.map((ticket) => ticket.id),
        userMessages: input,
        meta: { model: `${agentModel.model.provider}/${agentModel.model.id}` },
      });
      return { input, begun, left };
    }
  };
  const suspect = before.most === POISON_ATTEMPTS - 1;
  const alone = suspect ? await quarantine.run(handle.signal, start) : undefined;
  const started = alone ?? (await start());
  if (started === undefined) return forget(tickets);
  const { input, begun, left } = started;
  if (begun.outcome === "busy")
    throw new StoreError("busy", `the session ${sessionKey} is held by the run ${begun.run.id}`);
  await forget(tickets);
  const newest = begun.session.lastSeq;
  await makeTurn(options, {
    runId: begun.run.id,
    agent,
    agentModel,
    sessionKey,
    tickets: left,
    handle,
    generation: begun.session.generation,
    history: history.messages,
    input,
    places: [...history.places, ...input.map((_, index) => newest - input.length + 1 + index)],
    started: new Set(),
    earlier: [],
    sentByTool: [],
  });
}

function withAttachments(tickets: readonly MessageTicket[]): readonly MessageTicket[] {
  return tickets.filter(({ stored }) => stored.event.media.length > 0);
}

/** How many processes died under the attachments of these messages: the most of any, and those that are given up. */
async function crashesBefore(
  counts: CrashCounts,
  tickets: readonly MessageTicket[],
): Promise<{ readonly most: number; readonly spent: readonly MessageTicket[] }> {
  const counted = await Promise.all(
    withAttachments(tickets).map(async (ticket) => ({ ticket, count: await counts.before(ticket.id) })),
  );
  return {
    most: Math.max(0, ...counted.map(({ count }) => count)),
    spent: counted.flatMap(({ ticket, count }) => (count >= POISON_ATTEMPTS ? [ticket] : [])),
  };
}
