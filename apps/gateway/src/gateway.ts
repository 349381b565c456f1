import { setTimeout as delay } from "node:timers/promises";
import type { ChannelDefinition, EmitResult, InboundEvent, MessageEvent } from "@signalbox/channel";
import type { LoadedConfig } from "@signalbox/config";
import { createDrafts, createTyping, type DraftTiming } from "@signalbox/delivery";
import { createLanes, createQuarantine, createSupervisor } from "@signalbox/lanes";
import { createRouter } from "@signalbox/routing";
import { createLiveHub, type GatewayService } from "@signalbox/server";
import { type HomeLock, type Lease, timeOf } from "@signalbox/store";
import type { Agent } from "./agents.ts";
import { type Accounts, channelState } from "./channels.ts";
import { createAtOnceCommands } from "./commands/at-once.ts";
import { createInTurnCommands } from "./commands/in-turn.ts";
import { createReadOrder } from "./commands/read-order.ts";
import { COMMANDS, listedCommands } from "./commands/table.ts";
import { createCompactionCache } from "./compaction-cache.ts";
import { createReplyDelivery } from "./delivery.ts";
import { messageOf } from "./errors.ts";
import {
  accountWithFailpoints,
  emitWithFailpoints,
  type Failpoints,
  toolboxWithFailpoints,
} from "./failpoints.ts";
import { openHomeStore, takeHome, takeLease } from "./hold.ts";
import { type Home, prepareHome } from "./home.ts";
import { OWN_HOOKS } from "./hooks/own.ts";
import type { GatewayHook } from "./hooks/points.ts";
import { createGatewayHooks } from "./hooks/registry.ts";
import { listen } from "./listen.ts";
import { createRedactor, type Logger } from "./log.ts";
import { createMedia } from "./media.ts";
import { createMessageSender } from "./message-sender.ts";
import { createMetrics } from "./metrics.ts";
import { createReceive } from "./path/1-receive/receive.ts";
import { createAdmit } from "./path/2-admit/admit.ts";
import { createGate } from "./path/2-admit/gate.ts";
import { routingConfig } from "./path/2-admit/route.ts";
import { createAccept, recoverAccepted } from "./path/3-accept/accept.ts";
import { createUnanswered } from "./path/3-accept/unanswered.ts";
import { createEdits } from "./path/4-queue/edits.ts";
import { createLeaveOut } from "./path/4-queue/left-out.ts";
import { ownerOf, type Queued, resumedRun, samePlace } from "./path/4-queue/message.ts";
import { createQueue } from "./path/4-queue/queue.ts";
import { loadQueueModes } from "./path/4-queue/queue-modes.ts";
import { createAttachmentCrashes } from "./path/5-prepare/attachment-crashes.ts";
import { createChooseModel } from "./path/5-prepare/choose-model.ts";
import { createHistories } from "./path/5-prepare/history.ts";
import { createInboundContext } from "./path/5-prepare/inbound-context.ts";
import { createOpenRun } from "./path/5-prepare/open-run.ts";
import { createPrepare } from "./path/5-prepare/prepare.ts";
import { createSystemPrompt } from "./path/5-prepare/system-prompt.ts";
import { createTakeUp } from "./path/5-prepare/take-up.ts";
import { createUserMessages } from "./path/5-prepare/user-messages.ts";
import { createRun } from "./path/6-run/run.ts";
import { createAskings } from "./path/6-run/waiting.ts";
import { createCommit } from "./path/7-conclude/commit.ts";
import { createConclude } from "./path/7-conclude/conclude.ts";
import { createRefuse } from "./path/7-conclude/refuse.ts";
import { createDeliver } from "./path/8-deliver/deliver.ts";
import { createAnswer } from "./path/answer.ts";
import { judgeFailure, storeErrorIn } from "./path/failures.ts";
import { createAnswering, createTaking } from "./path/path.ts";
import { ShutdownAbort } from "./path/shutdown.ts";
import type { Plan } from "./plan.ts";
import { hooksWithRedaction, liveWithRedaction, redactedOutcome, storeWithRedaction } from "./redaction.ts";
import { createService } from "./service/create-service.ts";
import { createOutcomes, type Outcomes } from "./service/outcomes.ts";
import { effectiveToken, environmentSecrets, refuseOpenListening } from "./settings.ts";
import type { GatewayStore } from "./store.ts";
import { createSurfaces } from "./surfaces.ts";
import { toolsOf } from "./tool-names.ts";
import { createToolbox } from "./toolbox.ts";
import { createTracer } from "./trace/tracer.ts";
import { watchFaults } from "./upkeep/faults.ts";
import { createUpkeep } from "./upkeep/upkeep.ts";

export interface GatewayOptions {
  readonly home: Home;
  readonly loaded: LoadedConfig;
  readonly logger: Logger;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Channels besides the built-in ones. */
  readonly channels?: readonly ChannelDefinition[];
  /** The folder of the built console. */
  readonly consoleDir: string;
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number;
  /** Code of the host's own at the named points. */
  readonly hooks?: readonly GatewayHook[];
  /** Told when the gateway cannot go on: another process took over, or its lease was lost. */
  readonly onFatal: (error: Error) => void;
  /** For tests: called wherever the gateway can be made to die or fail. */
  readonly failpoints?: Failpoints;
  /** For tests: when drafts are opened and changed. */
  readonly drafts?: DraftTiming;
  /** How long the gateway's lease lasts without being renewed, in milliseconds. Default 30,000. */
  readonly leaseMs?: number;
}

/** A running gateway. */
export interface Gateway {
  /** Where it listens. */
  readonly url: string;
  /** Whether the offline demo model answers. */
  readonly demo: boolean;
  readonly service: GatewayService;
  /** Takes nothing more, lets runs come to a committed step, delivers what is ready, and lets the home go. */
  stop(): Promise<void>;
}

const LEASE_MS = 30_000;
/** How long the start waits for channel accounts to come up, in milliseconds. */
const ACCOUNTS_MS = 2_000;
/** How long a run that may be what ends the process goes on alone, in milliseconds. */
const SUSPECT_ALONE_MS = 10_000;
/** How long runs that are told to stop may take to do so, in milliseconds. */
const ENDING_MS = 5_000;

/**
 * Starts a gateway on a home that nobody else holds.
 * @throws GatewayError for whatever an operator has to mend
 */
export async function startGateway(options: GatewayOptions, plan: Plan): Promise<Gateway> {
  const { home, loaded, logger, env } = options;
  const { config } = loaded;
  refuseOpenListening(loaded, env);
  prepareHome(home);
  const lock = takeHome(home);
  const undo: (() => unknown)[] = [() => lock.release()];
  try {
    const token = effectiveToken(loaded, home, env);
    const redact = createRedactor([...loaded.secrets, token, ...environmentSecrets(env)]);
    const opened = await openHomeStore(home, config.gateway.inboxLimit, logger, options.failpoints);
    const store = storeWithRedaction(opened, redact);
    undo.unshift(() => store.close());
    const lease = await takeLease(store, home, options.leaseMs ?? LEASE_MS);
    return await run(options, plan, { lock, store, lease, token, redact }, undo);
  } catch (error) {
    for (const step of undo) await step();
    throw error;
  }
}

interface Held {
  readonly lock: HomeLock;
  readonly store: GatewayStore;
  readonly lease: Lease;
  readonly token: string;
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string;
}

async function run(
  options: GatewayOptions,
  plan: Plan,
  held: Held,
  undo: (() => unknown)[],
): Promise<Gateway> {
  const { home, loaded, logger } = options;
  const { store, lease, lock, redact } = held;
  const { config } = loaded;
  const { agents, models, skills, accounts } = plan;
  const now = options.now ?? Date.now;

  const live = liveWithRedaction(
    createLiveHub((error) => logger.error({ err: messageOf(error) }, "a viewer failed")),
    redact,
  );
  const tracer = createTracer(store, (error) =>
    logger.warn({ err: messageOf(error) }, "a trace could not be written"),
  );
  const metrics = createMetrics();
  const hooks = createGatewayHooks(hooksWithRedaction(options.hooks ?? [], redact), logger, [
    ...OWN_HOOKS,
    ...metrics.hooks,
  ]);
  const queueModes = await loadQueueModes(store);
  const outcomes = createOutcomes();
  const onOutcome: Outcomes["settle"] = (id, outcome) =>
    outcomes.settle(id, redactedOutcome(outcome, redact));
  const router = createRouter(routingConfig(config, agents), {
    cache: store.routes,
    onCacheError: (error) => logger.warn({ err: messageOf(error) }, "the route cache failed"),
  });
  const { failpoints, leaseMs = LEASE_MS } = options;
  const account: Accounts["get"] = (channel, name) => {
    const found = accounts.get(channel, name);
    return found && failpoints ? accountWithFailpoints(found, failpoints) : found;
  };
  const media = createMedia({ config, home, store, agents, account, logger, now });
  const surfaces = createSurfaces(media.fetch);
  for (const surface of [surfaces.web, surfaces.api]) accounts.addOwn(surface.definition);
  const deliverer = createReplyDelivery({
    ...{ config, store, lease, accounts, account, hooks, tracer, metrics, logger, now },
    openMedia: media.out.open,
  });
  const { stream, typing: signs } = config.replies;
  const typing = createTyping({ account, on: signs, logger });
  const drafts = createDrafts({
    ...{ account, stream, timing: options.drafts, logger },
    notes: store.kv,
    hasOpen: store.outbox.hasOpen,
    // Code at `before_reply` may still change or keep back what would be shown.
    mayShow: () => !hooks.has("before_reply"),
  });
  const sender = createMessageSender({
    ...{ store, lease, account, deliverer, live, redact, now },
    definition: accounts.definition,
    mediaOut: media.out,
  });
  const { definition } = accounts;
  const questions = { store, lease, definition, deliverer, live, logger, now };
  const tools = createToolbox({
    config,
    home,
    agents,
    skills,
    sender,
    fetch: media.fetch,
    tracer,
    hooks,
    questions,
    now,
  });
  const toolbox = failpoints ? toolboxWithFailpoints(tools, failpoints) : tools;
  const histories = createHistories(store);
  const faults = watchFaults(now);
  undo.unshift(() => faults.close());
  const onFatal = (error: Error): void => {
    faults.note();
    options.onFatal(error);
  };
  const supervisor = createSupervisor({
    judge: judgeFailure,
    onRetry: (task, error, delayMs) =>
      logger.error({ task, err: messageOf(error), delayMs }, "work failed; it is tried again"),
    onGiveUp: (task, error) => logger.error({ task, err: messageOf(error) }, "work failed for good"),
    onFatal: (error) => onFatal(storeErrorIn(error) ?? new Error(messageOf(error))),
  });
  const crashes = createAttachmentCrashes(store);
  const quarantine = createQuarantine({ aloneMs: SUSPECT_ALONE_MS });
  const askings = createAskings({ store, lease, logger });
  const { deliver } = deliverer;
  const startedAt = now();
  const commandsOf = (agent: Agent) =>
    skills.latest(agent).commands({ reserved: Object.keys(COMMANDS), tools: toolsOf(agent) });
  const readOrder = createReadOrder({ agents, models, skills: commandsOf });
  const userMessages = createUserMessages({ account, definition, incoming: media.in, now });
  const contextOf = createInboundContext({ groupHistory: store.groupHistory, account, definition, now });
  const chooseModel = createChooseModel({ agents, models, hooks });
  const compactionCache = createCompactionCache(store);
  const commit = createCommit({ store, lease, drafts, definition, userMessages, now });
  const refuse = createRefuse({ store, lease, definition, crashes, deliver, live, onOutcome, now });
  const deliverRun = createDeliver({ deliver, drafts, hooks, live, tracer, onOutcome, now });
  const answering = createAnswering({
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
      ...{ store, toolbox, contextOf, live, tracer, links: media.links, incoming: media.in },
      systemPrompt: createSystemPrompt({ skills, account, hooks, logger, now }),
    }),
    run: createRun({
      ...{ store, lease, askings, drafts, typing, definition, hooks, live, metrics, compactionCache },
      ...{ userMessages, contextOf, tracer, now, incoming: media.in },
    }),
    conclude: createConclude({ commit, histories, hooks, definition, logger, outgoing: media.out }),
    ...{ commit, refuse, deliver: deliverRun, metrics, tracer, logger },
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
    together: samePlace,
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
  const queue = createQueue({ agents, readOrder, answerAtOnce, lanes });
  const admit = createAdmit({
    ...{ router, bindings: config.bindings, pairing: store.pairing, definition },
    gate: createGate(config.access),
  });
  const taking = createTaking({
    receive: createReceive({ definition, logger }),
    admit,
    accept: createAccept({
      ...{ inbox: store.inbox, hooks, live, tracer, logger },
      onAccepted: outcomes.accepted,
    }),
    unanswered: createUnanswered({
      ...{ store, lease, logger, now, supervisor },
      historyLimit: config.access.groups.historyLimit,
      wakeOutbox: deliverer.wake,
    }),
    edits: createEdits({ store, lanes, queue, tracer }),
    queue,
  });

  /** Gives what is not answered yet to the next process. That this one ends is no message's fault. */
  const rest = async (): Promise<void> => {
    // What waits is not counted already, and must not be taken off twice.
    await askings.allOver();
    await store.runs.rest(lease);
    await crashes.rest();
  };
  const isExclusive = ({ channel, account: name }: MessageEvent): boolean =>
    definition(channel, name)?.capabilities.awaitsSingleAnswer === true;

  let state: "starting" | "ready" | "stopping" = "starting";
  const upkeep = createUpkeep({
    ...{ store, lease, leaseMs, logger, now, retention: config.retention },
    busy: () => lanes.counts().running > 0,
    pruneMedia: media.prune,
    wakeOutbox: deliverer.wake,
    onLost: onFatal,
  });
  const service = createService({
    ...{ store, upkeep, router, agents, models, accounts },
    ...{ lanes, surfaces, live, outcomes, startedAt, now, redact },
    approvals: toolbox.approvals,
    outboxInFlight: deliverer.inFlight,
    metrics,
    wakeOutbox: deliverer.wake,
    ready: () => state === "ready",
  });
  const http = await listen({
    ...{ loaded, service, logger, now },
    token: held.token,
    kv: store.kv,
    defaultAgent: agents.defaultId,
    pageDir: options.consoleDir,
  });
  undo.unshift(() => http.stop(0));
  lock.describe({ url: http.url, startedAt: now() });

  await router.warm();
  const opened = Promise.withResolvers<void>();
  let taken = true;
  const accept = async (event: InboundEvent): Promise<EmitResult> =>
    !taken ? "rejected" : metrics.timed("accept", () => taking.take(event));
  const emit = emitWithFailpoints(accept, failpoints);
  // What an earlier process left comes before anything new.
  const starting = accounts.start({
    emit: (event) => opened.promise.then(() => emit(event)),
    state: (channel) => channelState(store.kv, channel),
    commands: listedCommands(),
  });
  // Replies of resumed runs need their accounts; one that is slow to connect holds nothing up.
  await Promise.race([starting, new Promise((resolve) => setTimeout(resolve, ACCOUNTS_MS).unref())]);
  // Runs that an earlier process left go on first, each before anything newer of its session.
  for (const interrupted of await store.runs.interrupted()) {
    const resumed = resumedRun(interrupted);
    if (resumed !== undefined) lanes.enqueue(resumed);
  }
  for await (const accepted of recoverAccepted({ inbox: store.inbox, admit, isExclusive }))
    taking.enter(accepted);
  opened.resolve();
  deliverer.wake();
  upkeep.start();
  state = "ready";
  metrics
    .load()
    .catch((error: unknown) => logger.error({ err: messageOf(error) }, "there are no metrics in this run"));

  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    state = "stopping";
    taken = false;
    supervisor.close();
    upkeep.rest();
    const asked = now();
    const deadline = asked + config.gateway.shutdownMs;
    const left = (): number => Math.max(0, deadline - now());
    const ended = lanes.close();
    toolbox.approvals.close(new ShutdownAbort("the gateway stops while somebody is asked"));
    const impatience = setTimeout(() => lanes.stopAll(new ShutdownAbort("the gateway is stopping")), left());
    // What has not come to a step by then is as after a crash: the next start goes on with it.
    await Promise.race([ended, delay(left() + ENDING_MS, undefined, { ref: false })]);
    clearTimeout(impatience);
    await Promise.race([supervisor.idle(), delay(left() + ENDING_MS, undefined, { ref: false })]);
    // Replies need their accounts; what arrives meanwhile is refused, and its platform delivers it again.
    await deliverer.stop(Math.min(5_000, left()));
    await hooks.idle();
    await Promise.race([typing.idle(), delay(Math.min(1_000, left()), undefined, { ref: false })]);
    await accounts.stop(Math.min(5_000, left()));
    await http.stop(Math.min(1_000, left()));
    upkeep.stop();
    await router.flush();
    // Where a run may be why it ends, that start counts against its messages.
    if (!faults.since(asked)) {
      await rest().catch((error: unknown) =>
        logger.warn({ err: messageOf(error) }, "this start counts as a crash"),
      );
    }
    faults.close();
    await store.leases
      .release(lease)
      .catch((error: unknown) => logger.warn({ err: messageOf(error) }, "the lease was not released"));
    await store.close();
    lock.release();
  };
  return {
    url: http.url,
    demo: models.demoOnly,
    service,
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}
