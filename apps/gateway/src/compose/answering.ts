import { reasonOf } from "@signalbox/agent-core";
import type { AttachmentCrashes } from "@signalbox/attachments";
import { createRunMemory } from "@signalbox/memory/agents";
import { createPrefixWatch } from "@signalbox/prompt";
import { redactBeginning } from "@signalbox/redaction";
import { createCompactionCache, createHistories, type WaitingRuns } from "@signalbox/runs";
import type { OutboxRow } from "@signalbox/store";
import { createReadLinks } from "../agent/links.ts";
import { createRunFlush } from "../agent/memories.ts";
import { createSystemPrompt } from "../agent/system-prompt.ts";
import { createTimeZones } from "../agent/time-zones.ts";
import { createInTurnCommands } from "../chat-commands/in-turn.ts";
import { createPhrasesOf } from "../configure/phrases-of.ts";
import type { Standing } from "../pipeline/2-admit/standing.ts";
import type { ReadOrder } from "../pipeline/4-queue/message.ts";
import { createChooseModel } from "../pipeline/5-prepare/choose-model.ts";
import { createOpenRun } from "../pipeline/5-prepare/open-run.ts";
import { createPrepare, type Prepare } from "../pipeline/5-prepare/prepare.ts";
import { createTakeUp } from "../pipeline/5-prepare/take-up.ts";
import { createUserMessages, type UserMessages } from "../pipeline/5-prepare/user-messages.ts";
import { createRun } from "../pipeline/6-run/run.ts";
import { createCommit } from "../pipeline/7-conclude/commit.ts";
import { createConclude } from "../pipeline/7-conclude/conclude.ts";
import { createRefuse } from "../pipeline/7-conclude/refuse.ts";
import { createDeliver } from "../pipeline/8-deliver/deliver.ts";
import { type Answering, createAnswering } from "../pipeline/pipeline.ts";
import type { GatewayBodies } from "../store.ts";
import { DOCUMENTS } from "./documents.ts";
import type { Parts } from "./surroundings.ts";

/** Of what a call was given, so much is in the trace, in UTF-16 units. */
const NOTED_ARGS = 500;

/** What both halves of the way work with. */
interface SharedWithTaking {
  readonly waitingRuns: WaitingRuns;
  readonly crashes: AttachmentCrashes;
  readonly readOrder: ReadOrder;
  readonly standing: Standing;
}

/** The stages behind the lanes. */
export function createAnsweringHalf(parts: Parts, shared: SharedWithTaking): Answering {
  const { opened, surroundings } = parts;
  const { waitingRuns, crashes, readOrder, standing } = shared;
  const { metrics, router, media, spending, toolbox, typing, memories, memoryAccess } = surroundings;
  const common = commonPorts(parts);
  const histories = createHistories(opened.store.sessions);
  const userMessages = userMessagesOf(parts, common);
  const commit = createCommit({ ...common, userMessages });
  const refuse = createRefuse({ ...common, crashes });
  const deliver = createDeliver(common);
  const opening = { ...common, histories, chooseModel: createChooseModel(common) };
  const running = {
    ...common,
    spending,
    waitingRuns,
    compactionCache: createCompactionCache(opened.store.kv),
    excerpt: redactBeginning(opened.redact, NOTED_ARGS),
    flush: createRunFlush(memories, () => parts.configuration.config().memory.enabled, {
      ...common,
      access: memoryAccess,
    }),
  };
  return createAnswering({
    ...common,
    commands: createInTurnCommands({
      ...running,
      histories,
      toolbox,
      standing,
      refuse,
      finish: async (run, ended) => deliver(await commit(run, ended)),
    }),
    open: createOpenRun({
      ...opening,
      router,
      userMessages,
      crashes,
      endCommands: (sessionKey) => toolbox.endCommands(sessionKey),
    }),
    takeUp: createTakeUp({ ...opening, readOrder, waitsNoMore: (runId) => waitingRuns.over(runId) }),
    prepare: createPreparing(parts, standing),
    run: createRun({ ...running, typing, metrics, userMessages, incoming: media.in }),
    conclude: createConclude({ ...common, commit, histories, outgoing: media.out }),
    commit,
    refuse,
    deliver,
    readOrder,
    metrics,
  });
}

/** What most of them work with. */
function commonPorts({ options, resolved, opened, surroundings, now }: Parts) {
  const { store, lease } = opened;
  const { live, tracer, hooks, drafts, blocks, exchanges, delivery, onOutcome } = surroundings;
  return {
    store,
    lease,
    definition: resolved.accounts.definition,
    agents: resolved.agents,
    phrasesOf: createPhrasesOf(resolved.agents),
    models: resolved.models,
    exchanges,
    live,
    hooks,
    tracer,
    drafts,
    blocks,
    deliver: (rows: readonly OutboxRow<GatewayBodies>[]) => delivery.deliver(rows),
    onOutcome,
    logger: options.logger,
    now,
  };
}

function userMessagesOf(
  { surroundings: { account, media }, configuration }: Parts,
  common: ReturnType<typeof commonPorts>,
): UserMessages {
  const timeZoneOf = createTimeZones(configuration);
  return createUserMessages({ ...common, account, incoming: media.in, timeZoneOf });
}

/** What gives a run its memory, its tools and its prompt. */
function createPreparing(
  { options, resolved, opened, surroundings, configuration, now }: Parts,
  standing: Standing,
): Prepare {
  const { logger } = options;
  const { account, hooks, memoryAccess, live, media, memories, spending, toolbox, tracer } = surroundings;
  return createPrepare({
    spending,
    prefixes: createPrefixWatch({
      notes: opened.store.kv,
      onProblem: (error) => logger.debug({ err: reasonOf(error) }, "a prompt's digest was not kept"),
      now,
    }),
    store: opened.store,
    live,
    tracer,
    toolbox,
    standing,
    readLinks: createReadLinks({
      config: () => configuration.config().links,
      fetch: resolved.web.fetch,
      logger,
    }),
    incoming: media.in,
    remember: createRunMemory({
      memories: () => (configuration.config().memory.enabled ? memories : undefined),
      access: memoryAccess,
      recallTokens: () => configuration.config().memory.recallTokens,
      onProblem: (agent, error) => logger.warn({ agent, err: reasonOf(error) }, "memory could not be read"),
    }),
    systemPrompt: createSystemPrompt({
      skills: resolved.skills,
      documentation: DOCUMENTS,
      system: `${process.platform} ${process.arch}`,
      account,
      hooks,
      memoryAccess,
      logger,
      now,
    }),
  });
}
