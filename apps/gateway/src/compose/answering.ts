import { createQuarantine } from "@signalbox/lanes";
import { createRunMemory } from "@signalbox/memory/agents";
import { createHistories, type WaitingRuns } from "@signalbox/runs";
import { createInTurnCommands } from "../commands/in-turn.ts";
import type { createReadOrder } from "../commands/read-order.ts";
import { messageOf } from "../errors.ts";
import type { AttachmentCrashes } from "../path/5-prepare/attachment-crashes.ts";
import { createChooseModel } from "../path/5-prepare/choose-model.ts";
import { createInboundContext } from "../path/5-prepare/inbound-context.ts";
import { createOpenRun } from "../path/5-prepare/open-run.ts";
import { createPrepare } from "../path/5-prepare/prepare.ts";
import { createSystemPrompt } from "../path/5-prepare/system-prompt.ts";
import { createTakeUp } from "../path/5-prepare/take-up.ts";
import { createUserMessages } from "../path/5-prepare/user-messages.ts";
import { createRun } from "../path/6-run/run.ts";
import { createCommit } from "../path/7-conclude/commit.ts";
import { createConclude } from "../path/7-conclude/conclude.ts";
import { createRefuse } from "../path/7-conclude/refuse.ts";
import { createDeliver } from "../path/8-deliver/deliver.ts";
import { type Answering, createAnswering } from "../path/path.ts";
import { createCompactionCache } from "./compaction-cache.ts";
import { createRunFlush } from "./memory.ts";
import type { Parts } from "./surroundings.ts";

/** A run that may be what ends the process goes on alone for so long, in milliseconds. */
const SUSPECT_ALONE_MS = 10_000;

/** What both halves of the way work with. */
interface SharedWithTaking {
  readonly waitingRuns: WaitingRuns;
  readonly crashes: AttachmentCrashes;
  readonly readOrder: ReturnType<typeof createReadOrder>;
}

/** The stages behind the lanes. */
export function createAnsweringHalf(
  { options, resolved, opened, surroundings }: Parts,
  { waitingRuns, crashes, readOrder }: SharedWithTaking,
): Answering {
  const { logger, now = Date.now } = options;
  const { agents, models, skills } = resolved;
  const { definition } = resolved.accounts;
  const { store, lease } = opened;
  const { config } = options.loaded;
  const { live, tracer, metrics, hooks, router, account, media, typing, drafts, toolbox, memories } =
    surroundings;
  const { onOutcome } = surroundings;
  const { deliver } = surroundings.delivery;
  const quarantine = createQuarantine({ aloneMs: SUSPECT_ALONE_MS });
  const histories = createHistories(store.sessions);
  const userMessages = createUserMessages({ account, definition, incoming: media.in, now });
  const contextOf = createInboundContext({ groupHistory: store.groupHistory, account, definition, now });
  const chooseModel = createChooseModel({ agents, models, hooks });
  const compactionCache = createCompactionCache(store);
  const flush = createRunFlush(memories, logger, now);
  const commit = createCommit({ store, lease, drafts, definition, userMessages, now });
  const refuse = createRefuse({ store, lease, definition, crashes, deliver, live, onOutcome, now });
  const deliverRun = createDeliver({ deliver, drafts, hooks, live, tracer, onOutcome, now });
  return createAnswering({
    commands: createInTurnCommands({
      ...{ store, lease, agents, histories, models, toolbox, waitingRuns, compactionCache, definition },
      ...{ hooks, live, tracer, logger, now, deliver, onOutcome, refuse, flush },
      finish: async (run, conclusion) => deliverRun(await commit(run, conclusion)),
    }),
    open: createOpenRun({
      ...{ store, lease, router, chooseModel, histories, userMessages, crashes, logger, now },
      quarantine,
      endCommands: toolbox.endCommands,
    }),
    takeUp: createTakeUp({
      ...{ store, lease, chooseModel, histories, drafts, readOrder, tracer, logger },
      waitsNoMore: waitingRuns.over,
    }),
    prepare: createPrepare({
      ...{ store, toolbox, contextOf, live, tracer, readLinks: media.readLinks, incoming: media.in },
      remember: createRunMemory({
        ...{ memories, recallTokens: config.memory.recallTokens },
        onProblem: (agent, error) =>
          logger.warn({ agent, err: messageOf(error) }, "memory could not be read"),
      }),
      systemPrompt: createSystemPrompt({ skills, account, hooks, logger, now }),
    }),
    run: createRun({
      ...{ store, lease, waitingRuns, drafts, typing, definition, hooks, live, metrics, compactionCache },
      ...{ userMessages, contextOf, tracer, now, flush, incoming: media.in },
    }),
    conclude: createConclude({ commit, histories, hooks, definition, logger, outgoing: media.out }),
    ...{ commit, refuse, deliver: deliverRun, quarantine, metrics, tracer, logger },
  });
}
