import {
  type Activity,
  type Channel,
  type ChannelContext,
  ChannelError,
  createActivity,
  type InboundEvent,
  isLasting,
  isPayload,
  textAt,
  untilDone,
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
import { createSender, type Sender } from "./outbound/send.ts";
import { createTypingSigns, type TypingSigns } from "./outbound/typing.ts";
import { createPeople, type People } from "./people.ts";

/** Everything a channel without webhooks may do. */
type DiscordChannel = Omit<Required<Channel<DiscordAddress>>, "webhook">;

/** One account. Loads no SDK before it starts. */
export function createDiscord(context: ChannelContext<DiscordConfig>): DiscordChannel {
  const api = createApi(context);
  const people = createPeople(context, api);
  const places = createConversations(context, api);
  const interactions = createInteractions(context, api);
  const sender = createSender(api, interactions);
  const typing = createTypingSigns(context, sender.typing);
  const activity = createActivity(context.clock);
  let state: "starting" | "ready" | "stopped" = "starting";
  let listening: Listener | undefined;

  async function listen(signal: AbortSignal): Promise<void> {
    const { id } = await people.self(signal);
    const emit = async (event: InboundEvent) => (state === "stopped" ? "rejected" : context.emit(event));
    listening = createListener({
      context: { ...context, emit },
      api,
      people,
      places,
      interactions,
      botId: id,
    });
    await listening.session.load();
    await listening.connection.start(signal);
    void register(context, api, { botId: id, activity });
  }

  return {
    async start(signal) {
      signal.throwIfAborted();
      if (state !== "starting") return;
      try {
        await listen(signal);
      } catch (error) {
        listening?.connection.stop();
        api.stop();
        throw error;
      }
      if (state === "starting") state = "ready";
      else listening?.connection.stop();
    },
    async stop({ drainMs }) {
      if (state === "stopped") return;
      state = "stopped";
      typing.hideAll();
      listening?.connection.stop();
      if (listening?.intake !== undefined) void activity.count(listening.intake.settled());
      await activity.ended(drainMs);
      await listening?.session.flush().catch(() => {});
      await listening?.receiver.backfill.stop().catch(() => {});
      api.stop();
    },
    health: () => activity.health(state, listening?.connection.health()),
    ...methodsOf({ context, api, people, sender, typing, activity }),
  };
}

interface Parts {
  readonly context: ChannelContext<DiscordConfig>;
  readonly api: DiscordApi;
  readonly people: People;
  readonly sender: Sender;
  readonly typing: TypingSigns;
  readonly activity: Activity;
}

/** What an account does while it runs. */
function methodsOf({
  context,
  api,
  people,
  sender,
  typing,
  activity,
}: Parts): Omit<DiscordChannel, "start" | "stop" | "health"> {
  return {
    self: () => people.known(),
    send: (to, message, options) => activity.track(sender.send(to, message, options)),
    edit: (to, messageId, message, signal) =>
      activity.track(sender.edit(to.channelId, messageId, message, signal)),
    remove: (to, messageId, signal) => activity.track(sender.remove(to.channelId, messageId, signal)),
    closePoll: ({ channelId }, messageId, signal) =>
      activity.track(
        people
          .self(signal)
          .then(({ id: botId }) => sender.closePoll({ channelId, messageId, botId }, signal)),
      ),
    react: ({ channelId }, messageId, { emoji, on }, signal) =>
      activity.track(sender.react({ channelId, messageId, emoji }, on, signal)),
    async typing({ channelId, interactionId }, { on }, signal) {
      // A command shows by itself that it is being answered.
      if (interactionId !== undefined) return;
      if (on) await activity.track(typing.show(channelId, signal));
      else typing.hide(channelId);
    },
    openDirect: (userId, signal) => activity.track(openDirect(api, userId, signal)),
    history: (to, options) =>
      activity.track(people.self(options.signal).then(({ id }) => readHistory(api, to, options, id))),
    resolve: (userId, signal) => people.name(userId, signal),
    async openDraft(to, options) {
      return activity.draft(createDraft(sender, to, options));
    },
    fetchMedia: (ref, signal) => activity.track(fetchMedia(context, api, ref, signal)),
    checks: (signal) => activity.track(checkIntents(api, context.config, signal)),
    reconcile: (intent, signal) =>
      activity.track(
        people.self(signal).then(({ id: botId }) => reconcile(api, { botId, sender }, intent, signal)),
      ),
  };
}

async function register(
  context: ChannelContext<DiscordConfig>,
  api: DiscordApi,
  { botId, activity }: { readonly botId: string; readonly activity: Activity },
): Promise<void> {
  const { config, commands, clock, logger, signal } = context;
  if (!config.registerCommands || commands === undefined) return;
  await untilDone(() => activity.track(registerCommands(context, api, botId, signal)), {
    clock,
    logger,
    signal,
    failing: "failed to register commands",
    isHopeless: isLasting,
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
