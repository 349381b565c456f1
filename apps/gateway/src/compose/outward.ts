import {
  type BlockReplies,
  createBlockReplies,
  createDrafts,
  createTyping,
  type Drafts,
  type Typing,
} from "@signalbox/delivery";
import { type Accounts, createSpenders, createTranscriptionCosts, type LiveSetup } from "@signalbox/setup";
import { createMedia, type Media, type MediaOptions } from "@signalbox/setup/media";
import type { OutboxRow, RunId } from "@signalbox/store";
import type { AgentWorkspaces } from "@signalbox/tools";
import type { GatewayOptions } from "../gateway-options.ts";
import type { ResolvedConfig } from "../resolve/resolve-config.ts";
import type { GatewayBodies } from "../store.ts";
import { createReplyDelivery, type ReplyDelivery } from "./delivery.ts";
import type { Observers } from "./observers.ts";
import type { OpenHome } from "./open-home.ts";

/** What leads from the gateway to the platforms and back. */
export interface Outward {
  readonly account: Accounts["get"];
  readonly media: Media;
  readonly delivery: ReplyDelivery;
  readonly typing: Typing;
  readonly drafts: Drafts;
  readonly blocks: BlockReplies<RunId>;
}

export function createOutward(
  options: GatewayOptions,
  resolved: ResolvedConfig,
  opened: OpenHome,
  configuration: LiveSetup<ResolvedConfig>,
  { hooks, tracer, metrics, spendingReports }: Observers,
  workspaces: AgentWorkspaces,
): Outward {
  const { accounts } = resolved;
  const { store, lease } = opened;
  const { logger, instrument, now = Date.now } = options;
  const { config } = configuration;
  const account: Accounts["get"] = (channel, name) => {
    const running = accounts.get(channel, name);
    return running && (instrument?.account(running) ?? running);
  };
  const media = openMedia(options, resolved, opened, configuration, { workspaces, account, spendingReports });
  const delivery = createReplyDelivery({
    store,
    lease,
    accounts,
    account,
    hooks,
    tracer,
    metrics,
    logger,
    now,
    owners: configuration.derived(({ loaded }) => loaded.config.access.owners),
    openMedia: media.out.open,
  });
  // Code at `before_reply` may still change or keep back what would be shown.
  const mayShow = (): boolean => !hooks.has("before_reply");
  return {
    account,
    media,
    delivery,
    typing: createTyping({ account, on: () => config().replies.typing, logger }),
    drafts: createDrafts({
      account,
      stream: () => config().replies.stream,
      timing: options.drafts,
      logger,
      notes: store.kv,
      hasOpen: store.outbox.hasOpen,
      mayShow,
    }),
    blocks: createBlockReplies<OutboxRow<GatewayBodies>, RunId>({
      account,
      when: () => config().replies.blocks.when,
      rules: () => config().replies.blocks,
      mayShow,
      logger,
      notes: store.kv,
      capabilities: (channel, name) => accounts.definition(channel, name)?.capabilities,
      enqueue: (runId, row) => store.outbox.enqueue([row], { lease, runId }),
      deliver: delivery.deliver,
    }),
  };
}

/** Attachments, in and out; recordings are paid for by whoever sends them. */
function openMedia(
  { home, env, logger, now = Date.now }: GatewayOptions,
  { agents, web: { fetch } }: ResolvedConfig,
  { store }: OpenHome,
  configuration: LiveSetup<ResolvedConfig>,
  around: Pick<MediaOptions, "workspaces" | "account"> & Pick<Observers, "spendingReports">,
): Media {
  const { config } = configuration;
  const { workspaces, account, spendingReports } = around;
  const spenderOf = createSpenders(configuration);
  return createMedia({
    config,
    env,
    home,
    workspaces,
    store,
    agents,
    fetch,
    payForTranscription: createTranscriptionCosts(config, spenderOf, spendingReports),
    account,
    logger,
    now,
  });
}
