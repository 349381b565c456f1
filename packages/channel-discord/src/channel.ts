import {
  type Channel,
  type ChannelContext,
  ChannelError,
  createActivity,
  type InboundEvent,
  isPayload,
  reasonOf,
  textAt,
} from "@signalbox/channel";
import { type DiscordAddress, isSnowflake } from "./address.ts";
import { createApi } from "./api.ts";
import { checkIntents } from "./checks.ts";
import { registerCommands } from "./commands.ts";
import type { DiscordConfig } from "./config.ts";
import { createSession, type Session } from "./connection/session.ts";
import { createConnection, type GatewayConnection } from "./connection/socket.ts";
import { readHistory } from "./history.ts";
import { createIntake, type Intake } from "./inbound/intake.ts";
import { createReceiver, type Receiver } from "./inbound/receive.ts";
import { fetchMedia } from "./media.ts";
import { createDraft } from "./outbound/draft.ts";
import { createInteractions } from "./outbound/interactions.ts";
import { reconcile } from "./outbound/reconcile.ts";
import { createSender } from "./outbound/send.ts";
import { createTypingSigns } from "./outbound/typing.ts";
import { createPeople } from "./people.ts";
import { createPlaces } from "./places.ts";

/** Everything a channel without webhooks may do. */
type DiscordChannel = Omit<Required<Channel<DiscordAddress>>, "webhook">;

/** What exists once it is known who the bot is. */
interface Listening {
  readonly receiver: Receiver;
  readonly session: Session;
  readonly connection: GatewayConnection;
  /** Of the connection that stands. */
  intake: Intake | undefined;
}

/** One account. Loads no SDK before it starts. */
export function createDiscord(context: ChannelContext<DiscordConfig>): DiscordChannel {
  const { config, logger } = context;
  const api = createApi(context);
  const people = createPeople(context, api);
  const places = createPlaces(context, api);
  const interactions = createInteractions(context, api);
  const sender = createSender(api, interactions);
  const typing = createTypingSigns(context, sender.typing);
  const activity = createActivity(context.clock);
  let state: "starting" | "ready" | "stopped" = "starting";
  let listening: Listening | undefined;

  function listenAs(botId: string): Listening {
    const emit = async (event: InboundEvent) => (state === "stopped" ? "rejected" : context.emit(event));
    const receiver = createReceiver({
      context: { ...context, emit },
      api,
      people,
      places,
      interactions,
      botId,
    });
    const session = createSession(context, botId);
    const unreadable = new Map<string, number>();
    const connection = createConnection({
      context,
      api,
      session,
      listen() {
        made.intake = createIntake({
          receiver,
          session,
          logger,
          unreadable,
          refused: () => connection.lose(),
        });
        return made.intake.take;
      },
      missed: (lostAt) =>
        receiver.backfill.catchUp({
          signal: context.signal,
          ...(lostAt === undefined ? {} : { since: lostAt }),
        }),
    });
    const made: Listening = { receiver, session, connection, intake: undefined };
    return made;
  }

  async function register(botId: string): Promise<void> {
    if (!config.registerCommands || context.commands === undefined) return;
    await registerCommands(context, api, botId, context.signal).catch((error: unknown) => {
      logger.warn("commands could not be registered", { reason: reasonOf(error) });
    });
  }

  async function listen(signal: AbortSignal): Promise<void> {
    const { id } = await people.self(signal);
    listening = listenAs(id);
    await listening.session.load();
    await listening.connection.start(signal);
    void activity.track(register(id));
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
    async openDirect(userId, signal) {
      if (!isSnowflake(userId)) throw new ChannelError("invalid", "Discord: not the id of a person");
      const call = {
        what: "opening a direct conversation",
        method: "POST",
        path: "/users/@me/channels",
      } as const;
      const channel = await activity.track(api.call({ ...call, body: { recipient_id: userId }, signal }));
      const channelId = isPayload(channel) ? textAt(channel, "id") : undefined;
      if (channelId === undefined) throw new ChannelError("transient", "Discord names no conversation");
      return { channelId };
    },
    history: (to, options) =>
      activity.track(people.self(options.signal).then(({ id }) => readHistory(api, to, options, id))),
    resolve: (userId, signal) => people.name(userId, signal),
    async openDraft(to, options) {
      return activity.draft(createDraft(sender, to, options));
    },
    fetchMedia: (ref, signal) => activity.track(fetchMedia(context, api, ref, signal)),
    checks: (signal) => activity.track(checkIntents(api, config, signal)),
    reconcile: (intent, signal) =>
      activity.track(people.self(signal).then(({ id }) => reconcile(api, id, intent, signal))),
  };
}
