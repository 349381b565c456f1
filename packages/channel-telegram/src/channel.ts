import {
  type Channel,
  type ChannelContext,
  type ChannelMethods,
  createNameResolver,
  createWebhookMonitor,
  type HandleResult,
  type Health,
  type HostedAccount,
  hostedChannel,
  isRetryable,
  type NameResolver,
  type Payload,
  rejectWebhook,
  retryUntilDone,
} from "@signalbox/channel";
import type { TelegramAddress } from "./address.ts";
import { createApi, type TelegramApi } from "./api.ts";
import { checkBot } from "./checks.ts";
import { registerCommands } from "./commands.ts";
import type { TelegramConfig } from "./config.ts";
import { Identity } from "./identity.ts";
import { type Albums, createAlbums } from "./inbound/albums.ts";
import { getDisplayName } from "./inbound/conversation.ts";
import { createPolling } from "./inbound/polling.ts";
import { createReceiver, type Receive } from "./inbound/receive.ts";
import { createUpdateWebhook, readWebhookState, registerWebhook } from "./inbound/webhook.ts";
import { collectWebhookAlbums } from "./inbound/webhook-albums.ts";
import { limits } from "./limits.ts";
import { fetchMedia } from "./media.ts";
import { createDrafts } from "./outbound/draft.ts";
import { createMessageIds } from "./outbound/message-ids.ts";
import { reconcile } from "./outbound/reconcile.ts";
import { createSender } from "./outbound/send.ts";
import { createSupergroups } from "./supergroups.ts";

type TelegramMethods = Required<Omit<ChannelMethods<TelegramAddress>, "history" | "identify">>;
type TelegramChannel = Channel<TelegramAddress> & TelegramMethods;

/** Creates an account. Loads no library before the first Bot API call. */
export function createTelegram(context: ChannelContext<TelegramConfig>): TelegramChannel {
  return hostedChannel(context, openAccount);
}

function openAccount({ context, activity, stopped }: HostedAccount<TelegramConfig>) {
  const { config, clock } = context;
  const api = createApi(context);
  const identity = new Identity(context, api);
  const supergroups = createSupergroups(context.state, () => identity.bot.id);
  const ids = createMessageIds();
  const sender = createSender({ api, supergroups, ids }, () => identity.buttons, config);
  const receive = createReceiver(context, { api, supergroups, ids }, identity);
  const albums = createAlbums(context, () => identity.bot.id);
  const monitor = createWebhookMonitor("Telegram", context);
  const webhook = createUpdateWebhook(
    context,
    collectWebhookAlbums(context, async (updates) => {
      await identity.ensure(context.signal);
      return receiveArranged(albums, receive, updates);
    }),
    monitor,
  );
  const polling =
    config.transport === "polling" ? createPolling({ context, api, identity, albums, receive }) : undefined;
  /** The reason why Telegram cannot deliver updates to the webhook. */
  let webhookProblem: string | undefined;

  /** Checks periodically whether Telegram can deliver updates. Otherwise a failed delivery would go unnoticed. */
  async function watchWebhook(since: number): Promise<void> {
    while (!stopped.aborted) {
      const request = activity.track(readWebhookState(api, config, since, context.signal));
      webhookProblem = await request.then(
        ({ problem }) => problem,
        () => webhookProblem,
      );
      await clock.delay(limits.webhookCheckMs, stopped).catch(() => {});
    }
  }

  const toCurrent = async (to: TelegramAddress, signal: AbortSignal = context.signal) => {
    await identity.ensure(signal);
    return supergroups.toCurrent(to);
  };
  const openDraft = createDrafts(sender, clock, config);
  const methods: TelegramMethods = {
    webhook: async (request, read) => (polling === undefined ? webhook(request, read) : rejectWebhook()),
    send: async (to, message, options) => sender.send(await toCurrent(to, options.signal), message, options),
    edit: async (to, messageId, message, signal) =>
      sender.edit(await toCurrent(to, signal), messageId, message, signal),
    remove: async (to, messageId, signal) => sender.remove(await toCurrent(to, signal), messageId, signal),
    closePoll: async (to, messageId, signal) =>
      sender.closePoll(await toCurrent(to, signal), messageId, signal),
    react: async (to, messageId, { emoji, on }, signal) =>
      sender.react(await toCurrent(to, signal), messageId, on ? emoji : undefined, signal),
    // The indicator disappears after five seconds or with the next message.
    typing: async (to, { on }, signal) =>
      on ? showTyping(api, await toCurrent(to, signal), signal) : undefined,
    // The id of a private chat is the id of the user. Telegram rejects messages to users who have never written to the
    // bot.
    openDirect: async (userId) => ({ chatId: userId }),
    resolve: createNameLookup(context, api),
    openDraft: async (to, options) => openDraft(await toCurrent(to), options),
    fetchMedia: (ref, signal) => fetchMedia(api, ref, signal),
    checks: (signal) => checkBot({ context, api, monitor }, signal),
    async reconcile(intent, signal) {
      // A probe would change a message that another host has sent.
      if (context.isShared === true) return { outcome: "unknown" };
      await identity.ensure(signal);
      return reconcile({ api, supergroups, ids, settings: config }, intent, signal);
    },
  };

  return {
    async start(signal: AbortSignal) {
      if (polling !== undefined) return polling.start(signal);
      await identity.learn(signal);
      await registerWebhook(api, config, signal);
    },
    ready() {
      if (polling === undefined) void watchWebhook(clock.now());
      void listCommands(context, api);
    },
    disconnect: () => polling?.stop(),
    connection: (): Health | undefined =>
      webhookProblem === undefined
        ? (polling?.health() ?? monitor.health())
        : { state: "degraded", reason: webhookProblem },
    self: () => identity.known && { id: identity.bot.id, name: identity.bot.name },
    methods,
  };
}

/** Receives updates grouped into messages: single updates, complete albums, and late parts of an album. */
async function receiveArranged(
  albums: Albums,
  receive: Receive,
  updates: readonly Payload[],
): Promise<HandleResult> {
  let handled: HandleResult = "duplicate";
  for (const group of (await albums.arrange(updates)).values()) {
    if (group.length > 0) handled = await receive(group);
    if (handled === "rejected") return handled;
  }
  return handled;
}

/** Registers the host's commands. If there are none, the bot's menu stays unchanged. */
async function listCommands(
  { commands, clock, logger, signal }: ChannelContext<TelegramConfig>,
  api: TelegramApi,
): Promise<void> {
  if (commands === undefined) return;
  const register = async (): Promise<void> => {
    const skipped = await registerCommands(api, commands, signal);
    if (skipped > 0) logger.warn("skipped commands that Telegram does not accept", { count: skipped });
  };
  await retryUntilDone(register, {
    clock,
    logger,
    signal,
    failing: "failed to register commands",
    isRetryable,
  });
}

function createNameLookup({ cache, logger }: ChannelContext<TelegramConfig>, api: TelegramApi): NameResolver {
  return createNameResolver({
    cache,
    logger,
    prefix: "name",
    async request(userId, signal) {
      const call = { what: "looking up a user", write: false, signal };
      const chat = await api.call(call, (raw) => raw.getChat({ chat_id: userId }));
      return chat.type === "private" ? getDisplayName({ ...chat }) : undefined;
    },
  });
}

async function showTyping(
  api: TelegramApi,
  { chatId, topicId }: TelegramAddress,
  signal: AbortSignal,
): Promise<void> {
  const place =
    topicId === undefined ? { chat_id: chatId } : { chat_id: chatId, message_thread_id: Number(topicId) };
  await api.call({ what: "showing the typing indicator", write: false, signal }, (raw) =>
    raw.sendChatAction({ ...place, action: "typing" }),
  );
}
