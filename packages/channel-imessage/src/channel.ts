import { createHash } from "node:crypto";
import {
  type Channel,
  type ChannelContext,
  ChannelError,
  type ChannelMethods,
  createFetchedMedia,
  type HostedAccount,
  hostedChannel,
} from "@signalbox/channel";
import { type IMessageAddress, isPersonId } from "./address.ts";
import { createBlueBubbles } from "./bluebubbles/transport.ts";
import { KnownChats } from "./chats.ts";
import type { IMessageConfig } from "./config.ts";
import { createImsg } from "./imsg/transport.ts";
import { limits } from "./limits.ts";
import { reconcile } from "./outbound/reconcile.ts";
import { sendMessage } from "./outbound/send.ts";
import { Reader } from "./reader.ts";

type IMessageMethods = Required<
  Pick<
    ChannelMethods<IMessageAddress>,
    "send" | "react" | "openDirect" | "fetchMedia" | "checks" | "reconcile"
  >
>;

/** Creates an account. */
export function createIMessage(
  context: ChannelContext<IMessageConfig>,
): Channel<IMessageAddress> & IMessageMethods {
  return hostedChannel(context, openAccount);
}

function openAccount({ context, stopped }: HostedAccount<IMessageConfig>) {
  const { config, clock } = context;
  const botId = createBotId(config);
  const chats = new KnownChats();
  const reader = new Reader(context, {
    botId,
    noteChat: (row) => chats.note(row),
    isOwn: (guid) => chats.isSent(guid),
  });
  const services = { context, reader, chats, stopped };
  const transport = "command" in config ? createImsg(config, services) : createBlueBubbles(config, services);
  const outgoing = { transport, chats, clock };

  const methods: IMessageMethods = {
    send: (to, message, options) => sendMessage(outgoing, to, message, options),
    react: (to, messageId, reaction, signal) => transport.react(to, messageId, reaction, signal),
    openDirect: async (userId) => {
      if (isPersonId(userId)) return { person: userId };
      throw new ChannelError("not_found", "iMessage: not a phone number or an e-mail address");
    },
    fetchMedia: async (ref, signal) =>
      createFetchedMedia(await transport.open(ref.ref, signal), ref, limits.mediaBytes),
    checks: (signal) => transport.checks(signal),
    reconcile: (intent, signal) => reconcile(outgoing, intent, signal),
  };

  return {
    start: (signal: AbortSignal) => transport.start(signal),
    disconnect: () => transport.stop(),
    connection: () => transport.health(),
    self: () => ({ id: botId }),
    methods,
  };
}

/**
 * Returns the bot's id. Not every version reports an id of the account, and row numbers are specific to a database, so
 * the id is derived from the address of the Mac.
 */
function createBotId(config: IMessageConfig): string {
  const mac = "command" in config ? config.command.join("\0") : config.baseUrl;
  return `mac-${createHash("sha256").update(mac).digest("hex").slice(0, 12)}`;
}
