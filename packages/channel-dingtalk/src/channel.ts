import {
  type Channel,
  type ChannelContext,
  type ChannelMethods,
  type HostedAccount,
  hostedChannel,
} from "@signalbox/channel";
import type { DingTalkAddress } from "./address.ts";
import { createApi } from "./api.ts";
import { checkApp } from "./checks.ts";
import { type DingTalkConfig, getRobotCode } from "./config.ts";
import { createStreamConnection } from "./connection/connection.ts";
import { createReceiver } from "./inbound/receive.ts";
import { createFetchMedia } from "./media.ts";
import { createCards, isCardId } from "./outbound/cards.ts";
import { createDraft, removeCard } from "./outbound/draft.ts";
import { react } from "./outbound/reactions.ts";
import { createSender } from "./outbound/send.ts";

type Offered = "send" | "remove" | "react" | "openDirect" | "openDraft" | "fetchMedia" | "checks";
type DingTalkMethods = Required<Pick<ChannelMethods<DingTalkAddress>, Offered>>;
type DingTalkChannel = Channel<DingTalkAddress> & DingTalkMethods;

/** Creates an account. */
export function createDingTalk(context: ChannelContext<DingTalkConfig>): DingTalkChannel {
  return hostedChannel(context, openAccount);
}

function openAccount({ context }: HostedAccount<DingTalkConfig>) {
  const api = createApi(context);
  const botId = getRobotCode(context.config);
  const cards = createCards(context, api);
  const sender = createSender(api, cards);
  const connection = createStreamConnection({ context, api, take: createReceiver(context, botId) });

  const methods: DingTalkMethods = {
    send: (to, message, options) => sender.send(to, message, options),
    remove: (to, messageId, signal) =>
      isCardId(messageId)
        ? removeCard({ cards, sender }, to, messageId, signal)
        : sender.recall(to, messageId, signal),
    react: (_to, messageId, reaction, signal) => react(api, messageId, reaction, signal),
    openDirect: async (userId) => ({ userId }),
    openDraft: async (to, options) => createDraft({ cards, sender }, to, options),
    fetchMedia: createFetchMedia(context, api),
    checks: (signal) => checkApp(api, signal),
  };

  return {
    start: (signal: AbortSignal) => connection.start(signal),
    disconnect: () => connection.stop(),
    connection: () => connection.health(),
    self: () => ({ id: botId }),
    methods,
  };
}
