import {
  type Channel,
  type ChannelContext,
  ChannelError,
  type ChannelMethods,
  createWebhook,
  createWebhookMonitor,
  type HostedAccount,
  hostedChannel,
  rejectWebhook,
} from "@signalbox/channel";
import { type FeishuAddress, idType } from "./address.ts";
import { createApi } from "./api.ts";
import { checkApp } from "./checks.ts";
import type { FeishuConfig } from "./config.ts";
import { createLongConnection } from "./connection/socket.ts";
import { readHistory } from "./history.ts";
import { createReceiver } from "./inbound/receive.ts";
import { createVerifier } from "./inbound/webhook.ts";
import { limits } from "./limits.ts";
import { fetchMedia } from "./media.ts";
import { createCardKit } from "./outbound/card-kit.ts";
import { createDraft } from "./outbound/draft.ts";
import { reconcile } from "./outbound/reconcile.ts";
import { createSender } from "./outbound/send.ts";
import { createPeople } from "./people.ts";
import { createPlaces, type Places } from "./places.ts";

/** The reaction that Feishu's own bots add while they are writing. */
const typingReaction = "Typing";

type FeishuMethods = Required<Omit<ChannelMethods<FeishuAddress>, "closePoll">>;
type FeishuChannel = Channel<FeishuAddress> & FeishuMethods;

/** Creates an account. */
export function createFeishu(context: ChannelContext<FeishuConfig>): FeishuChannel {
  return hostedChannel(context, openAccount);
}

function openAccount({ context, activity }: HostedAccount<FeishuConfig>) {
  const { config, logger } = context;
  const { appId } = config;
  const api = createApi(context);
  const people = createPeople(context, api);
  const places = createPlaces(context, api, people);
  const cards = createCardKit(context, api);
  const sender = createSender({ api, places, cards, appId });
  const receiver = createReceiver({
    context,
    api,
    people,
    places,
    onTrouble: (reason) => activity.note(reason),
  });
  const { backfill } = receiver;
  backfill.expectGaps();
  const monitor = createWebhookMonitor("Feishu", context);
  const webhook = createWebhook({
    maxBytes: limits.bodyBytes,
    verify: createVerifier(context),
    handle: receiver.accept,
    monitor,
    logger,
  });
  const connection =
    config.transport === "socket"
      ? createLongConnection({
          context,
          handle: receiver.accept,
          connecting: () => backfill.expectGaps(),
          reconnected: (since) => backfill.catchUp({ signal: context.signal, since }),
        })
      : undefined;

  const methods: FeishuMethods = {
    webhook: async (request, read) => (connection === undefined ? webhook(request, read) : rejectWebhook()),
    send: (to, message, options) => sender.send(to, message, options),
    async edit(to, messageId, message, signal) {
      await assertInChat(places, to, messageId, signal);
      await sender.edit(messageId, message, signal);
    },
    async remove(to, messageId, signal) {
      await assertInChat(places, to, messageId, signal);
      await sender.remove(messageId, signal);
    },
    async react(to, messageId, { emoji, on }, signal) {
      await assertInChat(places, to, messageId, signal);
      await sender.react(messageId, emoji, on, signal);
    },
    async typing(_to, { on, messageId }, signal) {
      if (messageId !== undefined) await sender.react(messageId, typingReaction, on, signal);
    },
    openDirect: async (userId) => ({ id: userId }),
    history: (to, options) => readHistory(api, to, options, { appId, openId: people.known()?.id }),
    resolve: (userId, signal) => people.name(userId, signal),
    async openDraft(to, options) {
      if (options.messageId !== undefined) await assertInChat(places, to, options.messageId, options.signal);
      // A streaming card has a timer. It must not keep the process alive after the account has been taken down.
      const signal = AbortSignal.any([options.signal, context.signal]);
      return createDraft({ sender, cards, clock: context.clock }, to, { ...options, signal });
    },
    fetchMedia: (ref, signal) => fetchMedia(api, ref, signal),
    identify: (signal) => people.self(signal),
    checks: (signal) => checkApp(context, { api, monitor }, signal),
    reconcile: (intent, signal) => reconcile(api, appId, intent, signal),
  };

  return {
    start: async (signal: AbortSignal) => connection?.start(signal),
    // Feishu redelivers events that it could not deliver while this process was down, but only for up to six hours.
    ready: () => void backfill.catchUp({ signal: context.signal }),
    disconnect() {
      connection?.stop();
      receiver.stop();
    },
    close: () => backfill.stop(),
    connection: () => connection?.health() ?? monitor.health(),
    self: () => people.known(),
    methods,
  };
}

/**
 * Feishu identifies a message by its id only. Without this check, an action that was permitted in one chat could change
 * a message in another.
 *
 * @throws ChannelError `not_found` if the message is not in the chat
 */
async function assertInChat(
  places: Places,
  to: FeishuAddress,
  messageId: string,
  signal: AbortSignal,
): Promise<void> {
  // The address of a direct chat may contain the person instead of the chat. It cannot be compared in that case.
  if (idType(to.id) !== "chat_id") return;
  const chatId = (await places.message(messageId, signal))?.chatId;
  if (chatId === to.id) return;
  throw new ChannelError("not_found", "Feishu: no such message in this conversation");
}
