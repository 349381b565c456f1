import {
  type Activity,
  type Channel,
  type ChannelContext,
  createActivity,
  createNames,
  type Handled,
  isLasting,
  type NameOf,
  noWebhooks,
  type Payload,
  untilDone,
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
import { createUpdateWebhook, findWebhookProblem, registerWebhook } from "./inbound/webhook.ts";
import { collectWebhookAlbums } from "./inbound/webhook-albums.ts";
import { limits } from "./limits.ts";
import { fetchMedia } from "./media.ts";
import { createDrafts } from "./outbound/draft.ts";
import { createSender, type Sender } from "./outbound/send.ts";

/** Everything the definition's capabilities claim. */
type TelegramChannel = Required<Omit<Channel<TelegramAddress>, "history" | "reconcile">>;

/** One account. Loads no library before the first call of the Bot API. */
export function createTelegram(context: ChannelContext<TelegramConfig>): TelegramChannel {
  const { config, clock } = context;
  const api = createApi(context);
  const identity = new Identity(context, api);
  const activity = createActivity(clock);
  const sender = createSender(api, () => identity.buttons, config);
  const receive = createReceiver(context, api, identity);
  const albums = createAlbums(context, () => identity.bot.id);
  const lifetime = new AbortController();
  let state: "starting" | "ready" | "stopped" = "starting";
  /** Why Telegram gets no updates through to a webhook. */
  let unreached: string | undefined;

  const takeUnlessStopped: Receive = async (updates) =>
    state === "stopped" || context.signal.aborted ? "rejected" : receive(updates);

  const webhook = createUpdateWebhook(
    context,
    collectWebhookAlbums(context, (updates) => takeArranged(albums, takeUnlessStopped, updates)),
  );
  const polling =
    config.transport === "polling"
      ? createPolling({ context, api, identity, albums, receive: takeUnlessStopped })
      : undefined;

  /** Until the account stops: whether Telegram gets its updates through, which nothing here would notice. */
  async function watchWebhook(since: number): Promise<void> {
    while (state === "ready" && !context.signal.aborted) {
      const asked = activity.track(findWebhookProblem(api, config, since, context.signal));
      unreached = await asked.catch(() => unreached);
      await clock.delay(limits.webhookCheckMs, lifetime.signal).catch(() => {});
    }
  }

  async function listen(signal: AbortSignal): Promise<void> {
    if (polling !== undefined) return polling.start(signal);
    await identity.learn(signal);
    await registerWebhook(api, config, signal);
  }

  return {
    async start(signal) {
      signal.throwIfAborted();
      if (state !== "starting") return;
      await listen(signal);
      if (state !== "starting") return;
      state = "ready";
      if (polling === undefined) void watchWebhook(clock.now());
      void listCommands(context, api);
    },
    async stop({ drainMs }) {
      state = "stopped";
      polling?.stop();
      lifetime.abort();
      await activity.ended(drainMs);
    },
    health: () =>
      activity.health(
        state,
        unreached === undefined ? polling?.health() : { state: "degraded", reason: unreached },
      ),
    webhook: async (request, read) =>
      polling === undefined ? activity.count(webhook(request, read)) : noWebhooks(),
    ...methodsOf({ context, api, identity, sender, activity }),
  };
}

/** What came by itself or as an album; of an album also what came too late for it. */
async function takeArranged(albums: Albums, take: Receive, updates: readonly Payload[]): Promise<Handled> {
  let handled: Handled = "duplicate";
  for (const together of (await albums.arrange(updates)).values()) {
    if (together.length > 0) handled = await take(together);
    if (handled === "rejected") return handled;
  }
  return handled;
}

interface Parts {
  readonly context: ChannelContext<TelegramConfig>;
  readonly api: TelegramApi;
  readonly identity: Identity;
  readonly sender: Sender;
  readonly activity: Activity;
}

/** What an account does while it runs. */
function methodsOf({
  context,
  api,
  identity,
  sender,
  activity,
}: Parts): Omit<TelegramChannel, "start" | "stop" | "health" | "webhook"> {
  const { config } = context;
  const openDraft = createDrafts(sender, context.clock, config);
  return {
    self: () => identity.known && { id: identity.bot.id, name: identity.bot.name },
    send: (to, message, options) => activity.track(sender.send(to, message, options)),
    edit: (to, messageId, message, signal) => activity.track(sender.edit(to, messageId, message, signal)),
    remove: (to, messageId, signal) => activity.track(sender.remove(to, messageId, signal)),
    closePoll: (to, messageId, signal) => activity.track(sender.closePoll(to, messageId, signal)),
    react: (to, messageId, { emoji, on }, signal) =>
      activity.track(sender.react(to, messageId, on ? emoji : undefined, signal)),
    // It ends by itself, after five seconds or with the next message.
    typing: async (to, { on }, signal) => (on ? activity.track(showTyping(api, to, signal)) : undefined),
    // A private chat has the number of the person. Telegram refuses what a bot writes to somebody who never wrote to
    // it.
    openDirect: async (userId) => ({ chatId: userId }),
    resolve: namesOf(context, api),
    openDraft: async (to, options) => activity.draft(openDraft(to, options)),
    fetchMedia: (ref, signal) => activity.track(fetchMedia(api, ref, signal)),
    checks: (signal) => activity.track(checkBot(api, config, signal)),
  };
}

/** A host that says nothing of commands leaves the menu as it is. */
async function listCommands(
  { commands, clock, logger, signal }: ChannelContext<TelegramConfig>,
  api: TelegramApi,
): Promise<void> {
  if (commands === undefined) return;
  await untilDone(() => registerCommands(api, commands, signal), {
    clock,
    logger,
    signal,
    failing: "failed to register commands",
    isHopeless: isLasting,
  });
}

function namesOf({ cache, logger }: ChannelContext<TelegramConfig>, api: TelegramApi): NameOf {
  return createNames({
    cache,
    logger,
    prefix: "name",
    async ask(userId, signal) {
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
  const place = {
    chat_id: chatId,
    ...(topicId === undefined ? {} : { message_thread_id: Number(topicId) }),
  };
  await api.call({ what: "showing the typing indicator", write: false, signal }, (raw) =>
    raw.sendChatAction({ ...place, action: "typing" }),
  );
}
