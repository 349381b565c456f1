import {
  type Channel,
  type ChannelContext,
  ChannelError,
  type Health,
  isChannelError,
} from "@signalbox/channel";
import type { TelegramAddress } from "./address.ts";
import { createApi } from "./api.ts";
import { registerCommands } from "./commands.ts";
import type { TelegramConfig } from "./config.ts";
import { nameOf } from "./inbound/conversation.ts";
import { createPolling } from "./inbound/polling.ts";
import { createReceiver } from "./inbound/receiver.ts";
import type { Bot } from "./inbound/text.ts";
import { createUpdateWebhook, registerWebhook, webhookTrouble } from "./inbound/webhook.ts";
import { limits } from "./limits.ts";
import { type Buttons, createButtons } from "./outbound/buttons.ts";
import { createDrafts } from "./outbound/draft.ts";
import { fetchMedia } from "./outbound/media.ts";
import { createSender } from "./outbound/sender.ts";

/** Everything the definition's capabilities claim. */
type TelegramChannel = Required<Omit<Channel<TelegramAddress>, "history" | "reconcile">>;

/** One account. Loads no library before the first call of the Bot API. */
export function createTelegram(context: ChannelContext<TelegramConfig>): TelegramChannel {
  const { config, logger, clock } = context;
  const api = createApi(context);
  let state: "starting" | "ready" | "stopped" = "starting";
  let trouble: string | undefined;
  let identity: { readonly bot: Bot; readonly buttons: Buttons } | undefined;
  const running = new Set<Promise<unknown>>();

  const buttons = (): Buttons => identified().buttons;
  const receive = createReceiver(context, api, { bot: () => identified().bot, buttons });
  const takeUnlessStopped: typeof receive = async (update) =>
    state === "stopped" || context.signal.aborted ? "rejected" : receive(update);
  const webhook = createUpdateWebhook(context, takeUnlessStopped);
  const polling =
    config.transport === "polling"
      ? createPolling({ context, api, identify, receive: takeUnlessStopped })
      : undefined;
  const sender = createSender(api, buttons);
  const openDraft = createDrafts(sender, clock);

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

  /** Until the account stops: whether Telegram gets its updates through, which nothing here would notice. */
  async function watchWebhook(since: number): Promise<void> {
    while (state === "ready" && !context.signal.aborted) {
      trouble = await webhookTrouble(api, config, since, context.signal).catch((error: unknown) =>
        messageOf(error),
      );
      await clock.delay(limits.webhookCheckMs, lifetime.signal).catch(() => {});
    }
  }

  const lifetime = new AbortController();

  async function listen(signal: AbortSignal): Promise<void> {
    if (polling !== undefined) return polling.start(signal);
    await identify(signal);
    await registerWebhook(api, config, signal);
  }

  /** Keeps an account's lasting trouble for `health`, and counts what is under way for `stop`. */
  async function tracked<T>(work: Promise<T>): Promise<T> {
    running.add(work);
    try {
      const result = await work;
      trouble = undefined;
      return result;
    } catch (error) {
      if (isChannelError(error) && error.scope === "account") trouble = error.message;
      throw error;
    } finally {
      running.delete(work);
    }
  }

  return {
    async start(signal) {
      signal.throwIfAborted();
      if (state !== "starting") return;
      await listen(signal);
      if (state !== "starting") return;
      state = "ready";
      if (polling === undefined) void watchWebhook(clock.now());
      await registerCommands(api, context.commands ?? [], signal).catch((error: unknown) => {
        logger.warn("the commands could not be listed", { reason: messageOf(error) });
      });
    },
    async stop({ drainMs }) {
      state = "stopped";
      polling?.stop();
      lifetime.abort();
      if (running.size > 0) await Promise.race([Promise.allSettled(running), clock.delay(drainMs)]);
    },
    health(): Health {
      if (state !== "ready") return { state };
      const connected = polling?.health();
      if (connected !== undefined && connected.state !== "ready") return connected;
      return trouble === undefined ? { state } : { state: "degraded", reason: trouble };
    },
    self: () => identity && { id: identity.bot.id, name: identity.bot.name },
    async webhook(request, read) {
      if (polling !== undefined)
        return Response.json({ error: "this account takes no webhooks" }, { status: 404 });
      const answer = webhook(request, read);
      running.add(answer);
      return answer.finally(() => running.delete(answer));
    },
    send: (to, message, options) => tracked(sender.send(to, message, options)),
    edit: (to, messageId, message, signal) => tracked(sender.edit(to, messageId, message, signal)),
    remove: (to, messageId, signal) => tracked(sender.remove(to, messageId, signal)),
    react: (to, messageId, { emoji, on }, signal) =>
      tracked(sender.react(to, messageId, on ? emoji : undefined, signal)),
    async typing({ chatId, topicId }, { on }, signal) {
      // It ends by itself, after five seconds or with the next message.
      if (!on) return;
      const place = {
        chat_id: chatId,
        ...(topicId === undefined ? {} : { message_thread_id: Number(topicId) }),
      };
      await tracked(
        api.call({ what: "showing that an answer is written", write: false, signal }, (raw) =>
          raw.sendChatAction({ ...place, action: "typing" }),
        ),
      );
    },
    // A private chat has the number of the person. Telegram refuses what a bot writes to somebody who never wrote to it.
    openDirect: async (userId) => ({ chatId: userId }),
    async resolve(userId, signal) {
      const key = `name/${userId}`;
      const kept = await context.cache.get(key);
      if (typeof kept === "string") return { name: kept };
      const call = { what: "looking a person up", write: false, signal };
      const chat = await api.call(call, (raw) => raw.getChat({ chat_id: userId })).catch(() => undefined);
      const name = chat?.type === "private" ? nameOf({ ...chat }) : "";
      if (name === "") return undefined;
      await context.cache.set(key, name, nameTtlMs);
      return { name };
    },
    openDraft: async (to, options) => {
      const draft = openDraft(to, options);
      return {
        get messageId() {
          return draft.messageId;
        },
        update: (snapshot) => tracked(draft.update(snapshot)),
        finalize: (message, how) => tracked(draft.finalize(message, how)),
        abort: () => tracked(draft.abort()),
      };
    },
    fetchMedia: (ref, signal) => tracked(fetchMedia(api, ref, signal)),
  };
}

const nameTtlMs = 3_600_000;

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
