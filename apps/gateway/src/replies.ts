import {
  type BlockReplies,
  createBlockReplies,
  createDrafts,
  createTyping,
  type Drafts,
  type DraftsOptions,
  type Typing,
} from "@signalbox/delivery";
import type { AgentFiles } from "@signalbox/tools";
import { createMedia, type Media } from "./agent/media.ts";
import { createSpeech, type Speech } from "./agent/speech.ts";
import { createSpenders } from "./agent/spending.ts";
import type { SpendingReports } from "./agent/spending-reports.ts";
import { createTranscriptionCosts } from "./agent/transcription-costs.ts";
import type { CoreContext } from "./core-context.ts";
import { createReplyDelivery, type ReplyDelivery } from "./deliver-replies.ts";

/** The services that prepare and send replies. Part of the context. */
export interface Replies {
  readonly media: Media;
  readonly speech: Speech;
  readonly delivery: ReplyDelivery;
  readonly typing: Typing;
  readonly drafts: Drafts;
  readonly blocks: BlockReplies;
}

/** Creates the services for replies. */
export function createReplies(
  core: CoreContext,
  workspaces: AgentFiles["workspaces"],
  reports: SpendingReports,
): Replies {
  const { store, lease, config, hooks, logger } = core;
  const replies = () => config.current().settings.replies;
  const payForTranscription = createTranscriptionCosts(
    () => config.current().settings,
    createSpenders(config),
    reports,
  );
  const media = createMedia(core, { workspaces, payForTranscription });
  const delivery = createReplyDelivery(core, (part) => media.out.open(part));
  // A hook at `before_reply` may still change or withhold the text.
  const mayShow = (): boolean => !hooks.has("before_reply");
  const { getAccount: account } = core;
  const outgoing: Pick<DraftsOptions, "capabilities" | "enqueue" | "deliver"> = {
    capabilities: core.getCapabilities,
    enqueue: (runId, row) => store.outbox.enqueue([row], { lease, runId }),
    deliver: (rows) => delivery.deliver(rows),
  };
  return {
    media,
    speech: createSpeech(core, media.out, reports),
    delivery,
    typing: createTyping({ account, on: () => replies().typing, logger }),
    drafts: createDrafts({
      ...outgoing,
      account,
      mayShow,
      stream: () => replies().stream,
      timing: core.options.drafts,
      getLeaseMs: store.isShared ? core.leaseTerm.getMsLeft : undefined,
      logger,
      notes: store.kv,
      hasOpen: (destination) => store.outbox.hasOpen(destination),
    }),
    blocks: createBlockReplies({
      ...outgoing,
      account,
      mayShow,
      when: () => replies().blocks.when,
      rules: () => replies().blocks,
      logger,
      notes: store.kv,
    }),
  };
}
