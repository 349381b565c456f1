import {
  type Activity,
  type Channel,
  type ChannelContext,
  ChannelError,
  createActivity,
  createWebhook,
  type Handled,
  noWebhooks,
} from "@signalbox/channel";
import { type FeishuAddress, idType } from "./address.ts";
import { createApi, type FeishuApi } from "./api.ts";
import { checkApp } from "./checks.ts";
import type { FeishuConfig } from "./config.ts";
import { createLongConnection } from "./connection/socket.ts";
import { readHistory } from "./history.ts";
import type { EventEnvelope } from "./inbound/envelope.ts";
import { createReceiver } from "./inbound/receive.ts";
import { createVerifier } from "./inbound/webhook.ts";
import { limits } from "./limits.ts";
import { fetchMedia } from "./media.ts";
import { type CardKit, createCardKit } from "./outbound/card-kit.ts";
import { createDraft } from "./outbound/draft.ts";
import { reconcile } from "./outbound/reconcile.ts";
import { createSender, type Sender } from "./outbound/send.ts";
import { createPeople, type People } from "./people.ts";
import { createPlaces, type Places } from "./places.ts";

/** Feishu's own sign that an answer is being written. */
const typingReaction = "Typing";

/** Everything a channel may do. */
type FeishuChannel = Omit<Required<Channel<FeishuAddress>>, "closePoll">;

/** One account. Loads no SDK before the first call of the platform's API. */
export function createFeishu(context: ChannelContext<FeishuConfig>): FeishuChannel {
  const { config, logger } = context;
  const api = createApi(context);
  const people = createPeople(context, api);
  const places = createPlaces(context, api, people);
  const cards = createCardKit(context, api);
  const sender = createSender({ api, places, cards, appId: config.appId });
  const activity = createActivity(context.clock);
  const receiver = createReceiver({
    context,
    api,
    people,
    places,
    onTrouble: (reason) => activity.note(reason),
  });
  const { backfill } = receiver;
  let state: "starting" | "ready" | "stopped" = "starting";

  async function handle(envelope: EventEnvelope): Promise<Handled> {
    return state === "stopped" || context.signal.aborted ? "rejected" : receiver.accept(envelope);
  }

  const webhook = createWebhook({
    maxBytes: limits.bodyBytes,
    verify: createVerifier(context),
    handle,
    logger,
  });
  const connection =
    config.transport === "socket"
      ? createLongConnection({
          context,
          handle,
          reconnected: (since) => backfill.catchUp({ signal: context.signal, since }),
        })
      : undefined;

  return {
    async start(signal) {
      signal.throwIfAborted();
      if (state !== "starting") return;
      await connection?.start(signal);
      if (state !== "starting") return;
      state = "ready";
      // What Feishu could not post while this process was down it posts again, but up to six hours later.
      void backfill.catchUp({ signal: context.signal });
    },
    async stop({ drainMs }) {
      const wasStopped = state === "stopped";
      state = "stopped";
      connection?.stop();
      receiver.stop();
      await activity.ended(drainMs);
      if (!wasStopped) await backfill.stop().catch(() => {});
    },
    health: () => activity.health(state, connection?.health()),
    webhook: async (request, read) =>
      connection === undefined ? activity.count(webhook(request, read)) : noWebhooks(),
    ...methodsOf({ context, api, people, places, cards, sender, activity }),
  };
}

interface Parts {
  readonly context: ChannelContext<FeishuConfig>;
  readonly api: FeishuApi;
  readonly people: People;
  readonly places: Places;
  readonly cards: CardKit;
  readonly sender: Sender;
  readonly activity: Activity;
}

/** What an account does while it runs. */
function methodsOf({
  context,
  api,
  people,
  places,
  cards,
  sender,
  activity,
}: Parts): Omit<FeishuChannel, "start" | "stop" | "health" | "webhook"> {
  const { appId } = context.config;
  return {
    self: () => people.known(),
    send: (to, message, options) => activity.track(sender.send(to, message, options)),
    edit: (to, messageId, message, signal) =>
      activity.track(
        staysIn(places, to, messageId, signal).then(() => sender.edit(messageId, message, signal)),
      ),
    remove: (to, messageId, signal) =>
      activity.track(staysIn(places, to, messageId, signal).then(() => sender.remove(messageId, signal))),
    react: (to, messageId, { emoji, on }, signal) =>
      activity.track(
        staysIn(places, to, messageId, signal).then(() => sender.react(messageId, emoji, on, signal)),
      ),
    async typing(_to, { on, messageId }, signal) {
      if (messageId !== undefined) await activity.track(sender.react(messageId, typingReaction, on, signal));
    },
    openDirect: async (userId) => ({ id: userId }),
    history: (to, options) =>
      activity.track(readHistory(api, to, options, { appId, openId: people.known()?.id })),
    resolve: (userId, signal) => people.name(userId, signal),
    async openDraft(to, options) {
      if (options.messageId !== undefined)
        await activity.track(staysIn(places, to, options.messageId, options.signal));
      // What keeps a card streaming must not keep the process, where the account stops in the middle of an answer.
      const signal = AbortSignal.any([options.signal, context.signal]);
      return activity.draft(createDraft({ sender, cards, clock: context.clock }, to, { ...options, signal }));
    },
    fetchMedia: (ref, signal) => activity.track(fetchMedia(api, ref, signal)),
    checks: (signal) => activity.track(checkApp(context, api, signal)),
    reconcile: (intent, signal) => activity.track(reconcile(api, appId, intent, signal)),
  };
}

/** The platform goes by the message alone: a change asked for in one chat must not reach into another. */
async function staysIn(
  places: Places,
  to: FeishuAddress,
  messageId: string,
  signal: AbortSignal,
): Promise<void> {
  // Where a person stands for the chat there is nothing to compare.
  if (idType(to.id) !== "chat_id") return;
  const chatId = (await places.message(messageId, signal))?.chatId;
  if (chatId === to.id) return;
  throw new ChannelError("not_found", "Feishu: there is no such message in this conversation");
}
