import {
  type Activity,
  type Channel,
  type ChannelContext,
  ChannelError,
  type ChannelMethods,
  type HostedAccount,
  hostedChannel,
  isPayload,
  isRetryable,
  retryUntilDone,
  textAt,
} from "@signalbox/channel";
import { type DiscordAddress, isSnowflake } from "./address.ts";
import { createApi, type DiscordApi } from "./api.ts";
import { checkIntents } from "./checks.ts";
import { registerCommands } from "./commands.ts";
import type { DiscordConfig } from "./config.ts";
import { createConversations } from "./conversations.ts";
import { readHistory } from "./history.ts";
import { createListener, type Listener } from "./listener.ts";
import { fetchMedia } from "./media.ts";
import { createDraft } from "./outbound/draft.ts";
import { createInteractions } from "./outbound/interactions.ts";
import { reconcile } from "./outbound/reconcile.ts";
import { createSender } from "./outbound/send.ts";
import { createTypingSigns } from "./outbound/typing.ts";
import { createPeople } from "./people.ts";

type DiscordMethods = Required<Omit<ChannelMethods<DiscordAddress>, "webhook" | "identify">>;
type DiscordChannel = Channel<DiscordAddress> & DiscordMethods;

/** Creates an account. Loads no SDK until it starts. */
export function createDiscord(context: ChannelContext<DiscordConfig>): DiscordChannel {
  return hostedChannel(context, openAccount);
}

function openAccount({ context, activity }: HostedAccount<DiscordConfig>) {
  const api = createApi(context);
  const people = createPeople(context, api);
  const places = createConversations(context, api);
  const interactions = createInteractions(context, api);
  const sender = createSender(api, interactions, places.parentOf);
  const typing = createTypingSigns(context, sender.typing);
  let listener: Listener | undefined;

  const methods: DiscordMethods = {
    send: (to, message, options) => sender.send(to, message, options),
    edit: (to, messageId, message, signal) => sender.edit(to.channelId, messageId, message, signal),
    remove: (to, messageId, signal) => sender.remove(to.channelId, messageId, signal),
    async closePoll({ channelId }, messageId, signal) {
      const { id: botId } = await people.self(signal);
      return sender.closePoll({ channelId, messageId, botId }, signal);
    },
    react: ({ channelId }, messageId, { emoji, on }, signal) =>
      sender.react({ channelId, messageId, emoji }, on, signal),
    async typing({ channelId, interactionId }, { on }, signal) {
      // Discord itself shows that the bot is responding to a command.
      if (interactionId !== undefined) return;
      if (on) await typing.show(channelId, signal);
      else typing.hide(channelId);
    },
    openDirect: (userId, signal) => openDirect(api, userId, signal),
    async history(to, options) {
      const { id } = await people.self(options.signal);
      return readHistory(api, to, options, id);
    },
    resolve: (userId, signal) => people.name(userId, signal),
    openDraft: async (to, options) => createDraft(sender, to, options),
    fetchMedia: (ref, signal) => fetchMedia(context, api, ref, signal),
    checks: (signal) => checkIntents(api, context.config, signal),
    async reconcile(intent, signal) {
      const { id: botId } = await people.self(signal);
      return reconcile(api, { botId, sender }, intent, signal);
    },
  };

  return {
    async start(signal: AbortSignal) {
      const { id: botId } = await people.self(signal);
      listener = createListener({ context, api, people, places, interactions, botId });
      await listener.session.load();
      await listener.connection.start(signal);
      void register(context, api, { botId, activity });
    },
    disconnect() {
      typing.hideAll();
      listener?.connection.stop();
      if (listener?.intake !== undefined) void activity.count(listener.intake.settled());
    },
    async close() {
      await listener?.session.flush().catch(() => {});
      await listener?.receiver.backfill.stop().catch(() => {});
      api.stop();
    },
    connection: () => listener?.connection.health(),
    self: () => people.known(),
    methods,
  };
}

async function register(
  context: ChannelContext<DiscordConfig>,
  api: DiscordApi,
  { botId, activity }: { readonly botId: string; readonly activity: Activity },
): Promise<void> {
  const { config, commands, clock, logger, signal } = context;
  if (!config.registerCommands || commands === undefined) return;
  await retryUntilDone(() => activity.track(registerCommands(context, api, botId, signal)), {
    clock,
    logger,
    signal,
    failing: "failed to register commands",
    isRetryable,
  });
}

async function openDirect(api: DiscordApi, userId: string, signal: AbortSignal): Promise<DiscordAddress> {
  if (!isSnowflake(userId)) throw new ChannelError("invalid", "Discord: not a valid user id");
  const channel = await api.call({
    what: "opening a direct conversation",
    method: "POST",
    path: "/users/@me/channels",
    body: { recipient_id: userId },
    signal,
  });
  const channelId = isPayload(channel) ? textAt(channel, "id") : undefined;
  if (channelId === undefined)
    throw new ChannelError("transient", "Discord: the response contains no channel id");
  return { channelId };
}
