import {
  type BlockReplies,
  createBlockReplies,
  createDrafts,
  createTyping,
  type Drafts,
  type Typing,
} from "@signalbox/delivery";
import type { OutboxRow, RunId } from "@signalbox/store";
import type { AgentWorkspaces } from "@signalbox/tools";
import { createMedia, type Media, type MediaOptions } from "../agent/media.ts";
import { createSpenders } from "../agent/spending.ts";
import { createTranscriptionCosts } from "../agent/transcription-costs.ts";
import type { Accounts } from "../configure/accounts.ts";
import type { GatewayBodies } from "../store.ts";
import type { Base } from "./base.ts";
import { createReplyDelivery, type ReplyDelivery } from "./delivery.ts";
import type { Observers } from "./observers.ts";

/** What leads from the gateway to the platforms and back. */
export interface Outward {
  readonly account: Accounts["get"];
  readonly media: Media;
  readonly delivery: ReplyDelivery;
  readonly typing: Typing;
  readonly drafts: Drafts;
  readonly blocks: BlockReplies<RunId>;
}

export function createOutward(base: Base, observers: Observers, workspaces: AgentWorkspaces): Outward {
  const { options, resolved, opened, configuration, now } = base;
  const { accounts } = resolved;
  const { logger, instrument } = options;
  const { hooks, tracer, metrics, spendingReports } = observers;
  const account: Outward["account"] = (channel, name) => {
    const running = accounts.get(channel, name);
    return running && (instrument?.account(running) ?? running);
  };
  const media = openMedia(base, { workspaces, account, spendingReports });
  const delivery = createReplyDelivery({
    store: opened.store,
    lease: opened.lease,
    accounts,
    account,
    hooks,
    tracer,
    metrics,
    logger,
    now,
    agents: resolved.agents,
    owners: configuration.derived(({ loaded }) => loaded.config.access.owners),
    openMedia: (part) => media.out.open(part),
  });
  // Code at `before_reply` may still change or keep back what would be shown.
  const mayShow = (): boolean => !hooks.has("before_reply");
  return {
    account,
    media,
    delivery,
    typing: createTyping({ account, on: () => configuration.config().replies.typing, logger }),
    drafts: openDrafts(base, { account, mayShow }),
    blocks: openBlocks(base, { account, mayShow, deliver: (rows) => delivery.deliver(rows) }),
  };
}

interface Showing {
  readonly account: Outward["account"];
  readonly mayShow: () => boolean;
}

function openDrafts({ options, opened: { store }, configuration }: Base, showing: Showing): Drafts {
  return createDrafts({
    ...showing,
    stream: () => configuration.config().replies.stream,
    timing: options.drafts,
    logger: options.logger,
    notes: store.kv,
    hasOpen: (destination) => store.outbox.hasOpen(destination),
  });
}

function openBlocks(
  { options, resolved: { accounts }, opened: { store, lease }, configuration: { config } }: Base,
  showing: Showing & Pick<ReplyDelivery, "deliver">,
): BlockReplies<RunId> {
  return createBlockReplies<OutboxRow<GatewayBodies>, RunId>({
    ...showing,
    when: () => config().replies.blocks.when,
    rules: () => config().replies.blocks,
    logger: options.logger,
    notes: store.kv,
    capabilities: (channel, name) => accounts.definition(channel, name)?.capabilities,
    enqueue: (runId, row) => store.outbox.enqueue([row], { lease, runId }),
  });
}

/** Attachments, in and out; the sender pays for transcribing recordings. */
function openMedia(
  { options, resolved, opened, configuration, now }: Base,
  around: Pick<MediaOptions, "workspaces" | "account"> & Pick<Observers, "spendingReports">,
): Media {
  const { home, env, logger } = options;
  const { agents, web, clientFiles } = resolved;
  const { config } = configuration;
  const { workspaces, account, spendingReports } = around;
  return createMedia({
    config,
    env,
    home,
    workspaces,
    store: opened.store,
    agents,
    fetch: web.fetch,
    clientFiles,
    payForTranscription: createTranscriptionCosts(config, createSpenders(configuration), spendingReports),
    account,
    logger,
    now,
  });
}
