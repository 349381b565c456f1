import { reasonOf } from "@signalbox/agent-core";
import { createAttachmentCrashes } from "@signalbox/attachments";
import type { Capabilities, MessageEvent } from "@signalbox/channel";
import { createLanes, createQueueModes, type Lanes, type QueueModes } from "@signalbox/lanes";
import { createBotLoops, createGate } from "@signalbox/routing";
import { createWaitingRuns } from "@signalbox/runs";
import type { SkillCommand } from "@signalbox/skills";
import { timeOf } from "@signalbox/store";
import { createReadOrder } from "../chat-commands/read-order.ts";
import { COMMANDS } from "../chat-commands/table.ts";
import type { Agent } from "../configure/agents.ts";
import { createDecide, type Decide } from "../configure/decide.ts";
import { createPhrasesOf } from "../configure/phrases-of.ts";
import { toolsOf } from "../configure/tool-names.ts";
import { createAdmit } from "../pipeline/2-admit/admit.ts";
import { createStanding } from "../pipeline/2-admit/standing.ts";
import { createRecovery } from "../pipeline/3-accept/accept.ts";
import { createOnDropped } from "../pipeline/4-queue/dropped.ts";
import { mayShareRun, ownerOf, type Queued, resumedRun } from "../pipeline/4-queue/message.ts";
import { endDamagedRun } from "../pipeline/7-conclude/commit.ts";
import { createAnswer } from "../pipeline/answer.ts";
import { POISON_ATTEMPTS } from "../pipeline/failures.ts";
import type { Answering, Taking } from "../pipeline/pipeline.ts";
import { createAnsweringHalf } from "./answering.ts";
import type { Parts } from "./surroundings.ts";
import { createTakingHalf } from "./taking.ts";

/** The way of a message, put together: its two halves and the lanes between them. */
export interface Way {
  readonly lanes: Lanes<Queued>;
  /** From a channel to the lane. */
  readonly take: Taking["take"];
  /** The same for what the gateway says to an agent by itself. */
  readonly wake: Taking["wake"];
  /**
   * Takes up work that no process holds: runs first, each before anything newer of its session. Called at the start and
   * at intervals, since the work of another process is free once that has ended.
   */
  recover(): Promise<void>;
  /** Gives what is not answered yet to the next process. That this one ends is no message's fault. */
  rest(): Promise<void>;
  /** The commands that the skills of an agent bring. */
  readonly skillCommands: (agent: Agent) => readonly SkillCommand[];
}

/** Makes each stage of its own ports: what stands behind the lanes first, then the lanes, then what leads to them. */
export function createWay(parts: Parts): Way {
  const { logger } = parts.options;
  const { store, lease } = parts.opened;
  const { agents, models, accounts } = parts.resolved;
  const { userQuestions } = parts.surroundings;
  const waitingRuns = createWaitingRuns({
    store,
    lease,
    onFailure: (run, error) =>
      logger.warn({ run, err: reasonOf(error) }, "a waiting run could not be recorded"),
  });
  const crashes = createAttachmentCrashes(store.kv, POISON_ATTEMPTS);
  const queueModes = createQueueModes(store.sessions);
  const skills = commandsOf(parts);
  const readOrder = createReadOrder({ agents, models, skills });
  const decide = decideOf(parts);
  const standing = createStanding(agents, decide);
  const answering = createAnsweringHalf(parts, { waitingRuns, crashes, readOrder, standing });
  const lanes = lanesOf(parts, answering, queueModes);
  const admit = createAdmit({ decide, botLoops: createBotLoops(parts.now) });
  const capabilities = ({ channel, account }: MessageEvent): Capabilities | undefined =>
    accounts.definition(channel, account)?.capabilities;
  const taking = createTakingHalf(parts, { lanes, queueModes, readOrder, skills, admit, capabilities });
  const accepted = createRecovery({ inbox: store.inbox, lease, admit, capabilities });
  return {
    lanes,
    skillCommands: skills,
    take: (event) => taking.take(event),
    wake: taking.wake,
    async recover() {
      // What arrives may be the answer to what an earlier process has asked.
      await userQuestions.load();
      for (const interrupted of await store.runs.interrupted(lease)) {
        const resumed = resumedRun(interrupted);
        if (resumed === undefined) await endDamagedRun({ store, lease }, interrupted.run.id);
        else if (!lanes.all(resumed.sessionKey).some(({ id }) => id === resumed.id)) lanes.enqueue(resumed);
      }
      for await (const message of accepted()) await taking.goOn(message);
    },
    async rest() {
      // What waits is not counted already, and must not be taken off twice.
      await waitingRuns.allOver();
      await store.runs.rest(lease);
      await crashes.stopCleanly();
    },
  };
}

function decideOf({ resolved, opened, surroundings, configuration }: Parts): Decide {
  return createDecide({
    router: surroundings.router,
    bindings: () => configuration.config().bindings,
    gate: configuration.derived(({ loaded }) => createGate(loaded.config.access)),
    pairing: opened.store.pairing,
    tokens: opened.store.access.tokens,
    definition: resolved.accounts.definition,
  });
}

/** The commands that the skills of an agent bring. */
function commandsOf({ resolved: { skills, plugins } }: Parts): (agent: Agent) => readonly SkillCommand[] {
  const reserved = Object.keys(COMMANDS);
  return (agent) => skills.latest(agent).commands({ reserved, tools: toolsOf(agent, plugins) });
}

function lanesOf(
  { options, resolved, opened, surroundings, configuration: { config }, now }: Parts,
  answering: Answering,
  queueModes: QueueModes,
): Lanes<Queued> {
  const { logger } = options;
  const { definition } = resolved.accounts;
  const { store, lease } = opened;
  const { exchanges, live, tracer, metrics, supervisor, onOutcome, delivery } = surroundings;
  const answer = createAnswer({ store, lease, supervisor, logger, ...answering });
  return createLanes<Queued>({
    maxRuns: () => config().gateway.maxRuns,
    getKey: ({ sessionKey }) => sessionKey,
    getQueueSettings: (sessionKey) => {
      const mode = queueModes.get(sessionKey);
      const { queue } = config().session;
      return mode === undefined ? queue : { ...queue, mode };
    },
    getOwner: ownerOf,
    mayShareRun,
    run(batch, handle) {
      for (const { id } of batch.items) metrics.queued(now() - timeOf(id));
      return answer(batch, handle);
    },
    onError: (error) => logger.error({ err: reasonOf(error) }, "a run failed inside the gateway"),
    onDropped: createOnDropped({
      phrasesOf: createPhrasesOf(resolved.agents),
      store,
      lease,
      definition,
      exchanges,
      live,
      tracer,
      supervisor,
      now,
      onOutcome,
      deliver: (rows) => delivery.deliver(rows),
    }),
  });
}
