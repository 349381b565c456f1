import type { MessageEvent } from "@signalbox/channel";
import { createLanes, createQuarantine, type Lanes } from "@signalbox/lanes";
import { timeOf } from "@signalbox/store";
import { createAtOnceCommands } from "../commands/at-once.ts";
import { createInTurnCommands } from "../commands/in-turn.ts";
import { createReadOrder } from "../commands/read-order.ts";
import { COMMANDS } from "../commands/table.ts";
import type { GatewayOptions } from "../gateway-options.ts";
import type { OpenHome } from "../home/open-home.ts";
import { createReceive } from "../path/1-receive/receive.ts";
import { createAdmit } from "../path/2-admit/admit.ts";
import { createGate } from "../path/2-admit/gate.ts";
import { createAccept, recoverAccepted } from "../path/3-accept/accept.ts";
import { createUnanswered } from "../path/3-accept/unanswered.ts";
import { createEdits } from "../path/4-queue/edits.ts";
import { createLeaveOut } from "../path/4-queue/left-out.ts";
import { mayShareRun, ownerOf, type Queued, resumedRun } from "../path/4-queue/message.ts";
import { createQueue } from "../path/4-queue/queue.ts";
import { createQueueModes } from "../path/4-queue/queue-modes.ts";
import { type AttachmentCrashes, createAttachmentCrashes } from "../path/5-prepare/attachment-crashes.ts";
import { createChooseModel } from "../path/5-prepare/choose-model.ts";
import { createHistories } from "../path/5-prepare/history.ts";
import { createInboundContext } from "../path/5-prepare/inbound-context.ts";
import { createOpenRun } from "../path/5-prepare/open-run.ts";
import { createPrepare } from "../path/5-prepare/prepare.ts";
import { createSystemPrompt } from "../path/5-prepare/system-prompt.ts";
import { createTakeUp } from "../path/5-prepare/take-up.ts";
import { createUserMessages } from "../path/5-prepare/user-messages.ts";
import { createRun } from "../path/6-run/run.ts";
import { type Askings, createAskings } from "../path/6-run/waiting.ts";
import { createCommit, endDamagedRun } from "../path/7-conclude/commit.ts";
import { createConclude } from "../path/7-conclude/conclude.ts";
import { createRefuse } from "../path/7-conclude/refuse.ts";
import { createDeliver } from "../path/8-deliver/deliver.ts";
import { createAnswer } from "../path/answer.ts";
import { type Answering, createAnswering, createTaking, type Taking } from "../path/path.ts";
import type { Agent } from "../resolve/agents.ts";
import type { ResolvedConfig } from "../resolve/resolve-config.ts";
import { toolsOf } from "../resolve/tool-names.ts";
import { createCompactionCache } from "./compaction-cache.ts";
import type { Surroundings } from "./surroundings.ts";

/** The way of a message, put together: its two halves and the lanes between them. */
export interface Way {
  readonly lanes: Lanes<Queued>;
  /** From a channel to the lane. */
  readonly take: Taking["take"];
  /**
   * Goes on with what nobody works on: runs first, each before anything newer of its session. At the start, and every so
   * often, since what another process had is nobody's once that has ended.
   */
  recover(): Promise<void>;
  /** Gives what is not answered yet to the next process. That this one ends is no message's fault. */
  rest(): Promise<void>;
}

/** A run that may be what ends the process goes on alone for so long, in milliseconds. */
const SUSPECT_ALONE_MS = 10_000;

/** Makes each stage of its own ports: what stands behind the lanes first, then the lanes, then what leads to them. */
export async function createWay(
  options: GatewayOptions,
  resolved: ResolvedConfig,
  held: OpenHome,
  surroundings: Surroundings,
): Promise<Way> {
  const { agents, models, skills } = resolved;
  const { definition } = resolved.accounts;
  const { config } = options.loaded;
  const { store, lease } = held;
  const { live, tracer, metrics, hooks, router, delivery, toolbox, supervisor } = surroundings;
  const { onOutcome } = surroundings;
  const { logger, now = Date.now } = options;
  const { deliver } = delivery;
  const startedAt = now();
  const queueModes = createQueueModes(store.sessions);
  const askings = createAskings({ store, lease, logger });
  const crashes = createAttachmentCrashes(store);
  const commandsOf = (agent: Agent) =>
    skills.latest(agent).commands({ reserved: Object.keys(COMMANDS), tools: toolsOf(agent) });
  const readOrder = createReadOrder({ agents, models, skills: commandsOf });
  const answering = createAnsweringHalf({
    options,
    resolved,
    held,
    surroundings,
    askings,
    crashes,
    readOrder,
  });
  const answer = createAnswer({ store, supervisor, logger, ...answering });
  const lanes = createLanes<Queued>({
    maxRuns: config.gateway.maxRuns,
    keyOf: ({ sessionKey }) => sessionKey,
    queue: (sessionKey) => {
      const mode = queueModes.get(sessionKey);
      return mode === undefined ? config.session.queue : { ...config.session.queue, mode };
    },
    ownerOf,
    together: mayShareRun,
    run(batch, handle) {
      for (const { id } of batch.items) metrics.queued(now() - timeOf(id));
      return answer(batch, handle);
    },
    leaveOut: createLeaveOut({
      ...{ store, lease, definition, live, tracer, supervisor, now, onOutcome },
      deliver,
    }),
  });
  const answerAtOnce = createAtOnceCommands({
    ...{ store, router, lease, models, queueModes, lanes, hooks, definition, live, tracer, logger },
    ...{ startedAt, now, deliver, onOutcome, supervisor },
    approvals: toolbox.approvals,
    queueMode: config.session.queue.mode,
    skills: commandsOf,
  });
  const queue = createQueue({ agents, readOrder, answerAtOnce, lanes, modes: queueModes });
  const admit = createAdmit({
    ...{ router, bindings: config.bindings, pairing: store.pairing, definition },
    gate: createGate(config.access),
  });
  const taking = createTaking({
    receive: createReceive({ definition, logger }),
    admit,
    accept: createAccept({
      ...{ inbox: store.inbox, lease, hooks, live, tracer, logger },
      onAccepted: surroundings.outcomes.accepted,
    }),
    unanswered: createUnanswered({
      ...{ store, lease, logger, now, supervisor },
      historyLimit: config.access.groups.historyLimit,
      wakeOutbox: delivery.wake,
    }),
    edits: createEdits({ store, lease, lanes, queue, tracer }),
    ...{ queue, metrics },
  });

  const isExclusive = ({ channel, account: name }: MessageEvent): boolean =>
    definition(channel, name)?.capabilities.awaitsSingleAnswer === true;
  return {
    lanes,
    take: taking.take,
    async recover() {
      for (const interrupted of await store.runs.interrupted(lease)) {
        const resumed = resumedRun(interrupted);
        if (resumed === undefined) await endDamagedRun({ store, lease }, interrupted.run.id);
        else if (!lanes.all(resumed.sessionKey).some(({ id }) => id === resumed.id)) lanes.enqueue(resumed);
      }
      const accepted = recoverAccepted({ inbox: store.inbox, lease, admit, isExclusive });
      for await (const message of accepted) await taking.goOn(message);
    },
    async rest() {
      // What waits is not counted already, and must not be taken off twice.
      await askings.allOver();
      await store.runs.rest(lease);
      await crashes.rest();
    },
  };
}

interface AnsweringHalf {
  readonly options: GatewayOptions;
  readonly resolved: ResolvedConfig;
  readonly held: OpenHome;
  readonly surroundings: Surroundings;
  readonly askings: Askings;
  readonly crashes: AttachmentCrashes;
  readonly readOrder: ReturnType<typeof createReadOrder>;
}

/** The stages behind the lanes. */
function createAnsweringHalf(given: AnsweringHalf): Answering {
  const { askings, crashes, readOrder } = given;
  const { agents, models, skills } = given.resolved;
  const { definition } = given.resolved.accounts;
  const { store, lease } = given.held;
  const { live, tracer, metrics, hooks, router, account, media, typing, drafts, toolbox } =
    given.surroundings;
  const { onOutcome } = given.surroundings;
  const { deliver } = given.surroundings.delivery;
  const { logger, now = Date.now } = given.options;
  const quarantine = createQuarantine({ aloneMs: SUSPECT_ALONE_MS });
  const histories = createHistories(store);
  const userMessages = createUserMessages({ account, definition, incoming: media.in, now });
  const contextOf = createInboundContext({ groupHistory: store.groupHistory, account, definition, now });
  const chooseModel = createChooseModel({ agents, models, hooks });
  const compactionCache = createCompactionCache(store);
  const commit = createCommit({ store, lease, drafts, definition, userMessages, now });
  const refuse = createRefuse({ store, lease, definition, crashes, deliver, live, onOutcome, now });
  const deliverRun = createDeliver({ deliver, drafts, hooks, live, tracer, onOutcome, now });
  return createAnswering({
    commands: createInTurnCommands({
      ...{ store, lease, agents, histories, models, toolbox, askings, compactionCache, definition },
      ...{ hooks, live, tracer, logger, now, deliver, onOutcome, refuse },
      finish: async (run, conclusion) => deliverRun(await commit(run, conclusion)),
    }),
    open: createOpenRun({
      ...{ store, lease, router, chooseModel, histories, userMessages, crashes, logger, now },
      quarantine,
    }),
    takeUp: createTakeUp({
      ...{ store, lease, chooseModel, histories, drafts, readOrder, tracer, logger },
      waitsNoMore: askings.over,
    }),
    prepare: createPrepare({
      ...{ store, toolbox, contextOf, live, tracer, readLinks: media.readLinks, incoming: media.in },
      systemPrompt: createSystemPrompt({ skills, account, hooks, logger, now }),
    }),
    run: createRun({
      ...{ store, lease, askings, drafts, typing, definition, hooks, live, metrics, compactionCache },
      ...{ userMessages, contextOf, tracer, now, incoming: media.in },
    }),
    conclude: createConclude({ commit, histories, hooks, definition, logger, outgoing: media.out }),
    ...{ commit, refuse, deliver: deliverRun, quarantine, metrics, tracer, logger },
  });
}
