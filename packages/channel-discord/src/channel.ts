import {
  type Channel,
  type ChannelContext,
  ChannelError,
  type Health,
  type InboundEvent,
  isChannelError,
  isPayload,
  textAt,
} from "@signalbox/channel";
import { type DiscordAddress, isSnowflake } from "./address.ts";
import { createApi } from "./api.ts";
import { registerCommands } from "./commands.ts";
import type { DiscordConfig } from "./config.ts";
import { createConnection, type GatewayConnection } from "./gateway/connection.ts";
import { createSession, type Session } from "./gateway/session.ts";
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
  const running = new Set<Promise<unknown>>();
  let state: "starting" | "ready" | "stopped" = "starting";
  let trouble: string | undefined;
  let listening: Listening | undefined;

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
          ...{ receiver, session, logger, unreadable },
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
      const reason = error instanceof Error ? error.message : String(error);
      logger.warn("commands could not be registered", { reason });
    });
  }

  async function listen(signal: AbortSignal): Promise<void> {
    const { id } = await people.self(signal);
    listening = listenAs(id);
    await listening.session.load();
    await listening.connection.start(signal);
    void tracked(register(id));
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
      const drained = new AbortController();
      const ending = Promise.allSettled([...running, listening?.intake?.settled()]);
      const late = context.clock.delay(drainMs, drained.signal).catch(() => {});
      await Promise.race([ending, late]);
      drained.abort();
      await listening?.session.flush().catch(() => {});
      await listening?.receiver.backfill.flush().catch(() => {});
      api.stop();
    },
    health(): Health {
      if (state !== "ready") return { state };
      const connected = listening?.connection.health();
      if (connected !== undefined && connected.state !== "ready") return connected;
      return trouble === undefined ? { state } : { state: "degraded", reason: trouble };
    },
    self: () => people.known(),
    send: (to, message, options) => tracked(sender.send(to, message, options)),
    edit: (to, messageId, message, signal) => tracked(sender.edit(to.channelId, messageId, message, signal)),
    remove: (to, messageId, signal) => tracked(sender.remove(to.channelId, messageId, signal)),
    react: ({ channelId }, messageId, { emoji, on }, signal) =>
      tracked(sender.react({ channelId, messageId, emoji }, on, signal)),
    async typing({ channelId, interactionId }, { on }, signal) {
      // A command shows by itself that it is being answered.
      if (interactionId !== undefined) return;
      if (on) await tracked(typing.show(channelId, signal));
      else typing.hide(channelId);
    },
    async openDirect(userId, signal) {
      if (!isSnowflake(userId)) throw new ChannelError("invalid", "Discord: not the id of a person");
      const call = {
        what: "opening a direct conversation",
        method: "POST",
        path: "/users/@me/channels",
      } as const;
      const channel = await tracked(api.call({ ...call, body: { recipient_id: userId }, signal }));
      const channelId = isPayload(channel) ? textAt(channel, "id") : undefined;
      if (channelId === undefined) throw new ChannelError("transient", "Discord names no conversation");
      return { channelId };
    },
    history: (to, options) =>
      tracked(people.self(options.signal).then(({ id }) => readHistory(api, to, options, id))),
    resolve: (userId, signal) => people.name(userId, signal),
    async openDraft(to, options) {
      const draft = createDraft(sender, to, options);
      return {
        get messageId() {
          return draft.messageId;
        },
        update: (snapshot) => tracked(draft.update(snapshot)),
        finalize: (message, how) => tracked(draft.finalize(message, how)),
        abort: () => tracked(draft.abort()),
      };
    },
    fetchMedia: (ref, signal) => tracked(fetchMedia(context, api, ref, signal)),
    reconcile: (intent, signal) =>
      tracked(people.self(signal).then(({ id }) => reconcile(api, id, intent, signal))),
  };
}
