import {
  type Channel,
  type ChannelContext,
  ChannelError,
  type ChannelMethods,
  type HostedAccount,
  hostedChannel,
} from "@signalbox/channel";
import { isPersonId, type SignalAddress } from "./address.ts";
import { checkDaemon } from "./checks.ts";
import type { SignalConfig } from "./config.ts";
import { createConnection } from "./connection.ts";
import { Receiver } from "./inbound/receive.ts";
import { fetchMedia } from "./media.ts";
import { Sender } from "./outbound/send.ts";
import { type Account, createPeople, findSelf } from "./people.ts";
import { createSignalCli } from "./rpc.ts";

type SignalMethods = Required<
  Pick<
    ChannelMethods<SignalAddress>,
    "send" | "edit" | "remove" | "react" | "typing" | "openDirect" | "resolve" | "fetchMedia" | "checks"
  >
>;

/** Creates an account. */
export function createSignal(context: ChannelContext<SignalConfig>): Channel<SignalAddress> & SignalMethods {
  return hostedChannel(context, openAccount);
}

function openAccount({ context, activity, stopped }: HostedAccount<SignalConfig>) {
  const { config } = context;
  const cli = createSignalCli(context);
  const people = createPeople(context, cli);
  const sender = new Sender(context, cli);
  let self: Account = { account: config.account };
  const { note } = activity;
  const receiver = new Receiver(context, { self: () => self, people, stopped, note });
  const connection = createConnection(context, { cli, receiver, activity });

  const methods: SignalMethods = {
    send: (to, message, options) => sender.send(to, message, options),
    edit: (to, messageId, message, signal) => sender.edit(to, messageId, message, signal),
    remove: (to, messageId, signal) => sender.remove(to, messageId, signal),
    react: (to, messageId, reaction, signal) => sender.react(to, messageId, reaction, signal),
    typing: (to, { on }, signal) => sender.typing(to, on, signal),
    openDirect: async (userId) => {
      if (isPersonId(userId)) return { person: userId };
      throw new ChannelError("not_found", "Signal: not the service id or phone number of a person");
    },
    resolve: people,
    fetchMedia: (ref, signal) => fetchMedia(cli, ref, signal),
    checks: (signal) => checkDaemon(cli, config, signal),
  };

  return {
    async start(signal: AbortSignal) {
      self = await findSelf(cli, config.account, signal);
      await receiver.begin();
      await connection.start(signal);
    },
    disconnect: () => connection.stop(),
    close: () => receiver.end(),
    connection: () => connection.health(),
    self: () => ({ id: config.account, name: self.name }),
    methods,
  };
}
