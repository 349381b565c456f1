import {
  type Channel,
  type ChannelContext,
  ChannelError,
  createActivity,
  createNames,
  type Handled,
  type Payload,
  reasonOf,
} from "@signalbox/channel";
import type { TelegramAddress } from "./address.ts";
import { createApi } from "./api.ts";
import { checkBot } from "./checks.ts";
import { registerCommands } from "./commands.ts";
import type { TelegramConfig } from "./config.ts";
import { gatherRequests } from "./inbound/album-requests.ts";
import { createAlbums } from "./inbound/albums.ts";
import { nameOf } from "./inbound/conversation.ts";
import { createPolling } from "./inbound/polling.ts";
import { createReceiver } from "./inbound/receive.ts";
import type { Bot } from "./inbound/text.ts";
import { createUpdateWebhook, registerWebhook, webhookTrouble } from "./inbound/webhook.ts";
import { limits } from "./limits.ts";
import { fetchMedia } from "./media.ts";
import { type Buttons, createButtons } from "./outbound/buttons.ts";
import { createDrafts } from "./outbound/draft.ts";
import { createSender } from "./outbound/send.ts";

/** Everything the definition's capabilities claim. */
type TelegramChannel = Required<Omit<Channel<TelegramAddress>, "history" | "reconcile">>;

/** One account. Loads no library before the first call of the Bot API. */
export function createTelegram(context: ChannelContext<TelegramConfig>): TelegramChannel {
  const { config, logger, clock } = context;
  const api = createApi(context);
  let state: "starting" | "ready" | "stopped" = "starting";
  const activity = createActivity(clock);
  /** Why Telegram gets no updates through to a webhook. */
  let unreached: string | undefined;
  let identity: { readonly bot: Bot; readonly buttons: Buttons } | undefined;

  const buttons = (): Buttons => identified().buttons;
  const receive = createReceiver(context, api, { bot: () => identified().bot, buttons });
  const takeUnlessStopped: typeof receive = async (updates) =>
    state === "stopped" || context.signal.aborted ? "rejected" : receive(updates);
  const albums = createAlbums(context, () => identified().bot.id);
  const webhook = createUpdateWebhook(context, gatherRequests(context, takeArranged));
  const polling =
    config.transport === "polling"
      ? createPolling({ context, api, identify, albums, receive: takeUnlessStopped })
      : undefined;
  const sender = createSender(api, buttons, config);
  const openDraft = createDrafts(sender, clock, config);
  const names = createNames({ cache: context.cache, prefix: "name", ask: askName, logger });

  /** What came by itself or as an album; of an album also what came too late for it. */
  async function takeArranged(updates: readonly Payload[]): Promise<Handled> {
    let handled: Handled = "duplicate";
    for (const together of (await albums.arrange(updates)).values()) {
      if (together.length > 0) handled = await takeUnlessStopped(together);
      if (handled === "rejected") return handled;
    }
    return handled;
  }

  function identified() {
    if (identity !== undefined) return identity;
    throw new ChannelError("transient", "Telegram: it is not known yet who the bot is", { scope: "account" });
  }

  async function identify(signal: AbortSignal): Promise<void> {
    const me = await api.call({ what: "asking who the bot is", write: false, signal }, (raw) => raw.getMe());
    const id = String(me.id);
    const bot = { id, name: me.first_name, username: me.username };
    identity = {
      bot,
      buttons: identity?.bot.id === id ? identity.buttons : createButtons(context.state, id),
    };
  }

  async function askName(userId: string, signal: AbortSignal): Promise<string | undefined> {
    const call = { what: "looking a person up", write: false, signal };
    const chat = await api.call(call, (raw) => raw.getChat({ chat_id: userId }));
    return chat.type === "private" ? nameOf({ ...chat }) : undefined;
  }

  /** Until the account stops: whether Telegram gets its updates through, which nothing here would notice. */
  async function watchWebhook(since: number): Promise<void> {
    while (state === "ready" && !context.signal.aborted) {
      const asked = activity.track(webhookTrouble(api, config, since, context.signal));
      unreached = await asked.catch(() => unreached);
      await clock.delay(limits.webhookCheckMs, lifetime.signal).catch(() => {});
    }
  }

  const lifetime = new AbortController();

  async function listen(signal: AbortSignal): Promise<void> {
    if (polling !== undefined) return polling.start(signal);
    await identify(signal);
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
      // A host that says nothing of commands leaves the menu as it is.
      if (context.commands === undefined) return;
      await registerCommands(api, context.commands, signal).catch((error: unknown) => {
        logger.warn("the commands could not be listed", { reason: reasonOf(error) });
      });
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
    self: () => identity && { id: identity.bot.id, name: identity.bot.name },
    async webhook(request, read) {
      if (polling !== undefined)
        return Response.json({ error: "this account takes no webhooks" }, { status: 404 });
      return activity.count(webhook(request, read));
    },
    send: (to, message, options) => activity.track(sender.send(to, message, options)),
    edit: (to, messageId, message, signal) => activity.track(sender.edit(to, messageId, message, signal)),
    remove: (to, messageId, signal) => activity.track(sender.remove(to, messageId, signal)),
    closePoll: (to, messageId, signal) => activity.track(sender.closePoll(to, messageId, signal)),
    react: (to, messageId, { emoji, on }, signal) =>
      activity.track(sender.react(to, messageId, on ? emoji : undefined, signal)),
    async typing({ chatId, topicId }, { on }, signal) {
      // It ends by itself, after five seconds or with the next message.
      if (!on) return;
      const place = {
        chat_id: chatId,
        ...(topicId === undefined ? {} : { message_thread_id: Number(topicId) }),
      };
      await activity.track(
        api.call({ what: "showing that an answer is written", write: false, signal }, (raw) =>
          raw.sendChatAction({ ...place, action: "typing" }),
        ),
      );
    },
    // A private chat has the number of the person. Telegram refuses what a bot
    // writes to somebody who never wrote to it.
    openDirect: async (userId) => ({ chatId: userId }),
    resolve: names,
    openDraft: async (to, options) => activity.draft(openDraft(to, options)),
    fetchMedia: (ref, signal) => activity.track(fetchMedia(api, ref, signal)),
    checks: (signal) => activity.track(checkBot(api, config, signal)),
  };
}
