import {
  type Channel,
  type ChannelContext,
  ChannelError,
  type Health,
  isChannelError,
} from "@signalbox/channel";
import { type FeishuAddress, idType } from "./address.ts";
import { createApi } from "./api.ts";
import { missedMessages } from "./backfill.ts";
import type { FeishuConfig } from "./config.ts";
import { createDraft } from "./draft.ts";
import { type EventEnvelope, type Facts, messageOf, readEvent } from "./events.ts";
import { createArchive } from "./history.ts";
import { limits } from "./limits.ts";
import { createPeople } from "./people.ts";
import { createPlaces, type Place } from "./places.ts";
import { objectAt, objectsAt, textAt } from "./raw.ts";
import { createSender } from "./send.ts";
import { createSocket } from "./socket.ts";
import { createWebhook, type Handled } from "./webhook.ts";

/** Feishu's own sign that an answer is being written. */
const typingReaction = "Typing";

/** Everything a channel may do. */
type FeishuChannel = Required<Channel<FeishuAddress>>;

/** One account. Loads no SDK before the first call of the platform's API. */
export function createFeishu(context: ChannelContext<FeishuConfig>): FeishuChannel {
  const api = createApi(context);
  const people = createPeople(context, api);
  const places = createPlaces(context, api);
  const sender = createSender(context, api, places);
  const archive = createArchive(context, api, people);
  let state: "starting" | "ready" | "stopped" = "starting";
  let trouble: { readonly reason: string; readonly at: number } | undefined;
  const running = new Set<Promise<unknown>>();

  async function accept(envelope: EventEnvelope): Promise<Handled> {
    if (state === "stopped" || context.signal.aborted) return "rejected";
    const facts = await lookUp(envelope);
    if (facts === undefined) return "rejected";
    const events = readEvent(envelope, facts);
    if (events === undefined) return "malformed";
    let handled: Handled = "ignored";
    for (const event of events) {
      const result = await context.emit(event);
      if (result === "rejected") return "rejected";
      if (handled !== "accepted") handled = result;
    }
    return handled;
  }

  /** What the event leaves open, as far as it decides anything. Undefined: it could not be found out in time. */
  async function lookUp(envelope: EventEnvelope): Promise<Facts | undefined> {
    // Most events leave nothing open, and a timer for each would be waste.
    let limited: AbortSignal | undefined;
    const signal = () => {
      limited ??= AbortSignal.any([context.signal, AbortSignal.timeout(limits.lookupMs)]);
      return limited;
    };
    try {
      const message = messageOf(envelope);
      const chatId = message === undefined ? undefined : textAt(message, "chat_id");
      if (chatId !== undefined)
        await places.saw(chatId, message?.["chat_type"] === "p2p" ? "direct" : "group");
      return {
        account: context.account,
        appId: context.config.appId,
        selfId: await selfFor(envelope, signal),
        answersSelf: await answersSelf(envelope, signal),
        place: await placeFor(envelope, signal),
        now: context.clock.now(),
        raw: context.raw === true,
      };
    } catch (error) {
      if (!isChannelError(error)) throw error;
      note(error.message);
      context.logger.warn("an event has to come again: what it refers to could not be looked up", {
        type: envelope.type,
        reason: error.message,
      });
      return undefined;
    }
  }

  /** Whether a mention is ours decides in a group what becomes of the message; elsewhere only how its text reads. */
  async function selfFor(envelope: EventEnvelope, signal: () => AbortSignal): Promise<string | undefined> {
    const message = messageOf(envelope);
    const mentioned = message !== undefined && objectsAt(message, "mentions").length > 0;
    if (mentioned && message["chat_type"] === "p2p") {
      return (await people.self(signal()).catch(() => undefined))?.id;
    }
    if (mentioned || envelope.type.includes(".member.bot.")) return (await people.self(signal())).id;
    return people.known()?.id;
  }

  async function answersSelf(envelope: EventEnvelope, signal: () => AbortSignal): Promise<boolean> {
    const message = messageOf(envelope);
    const parentId = message === undefined ? undefined : textAt(message, "parent_id");
    if (parentId === undefined || message?.["chat_type"] === "p2p") return false;
    try {
      return (await places.message(parentId, signal()))?.own === true;
    } catch (error) {
      // A message that we may not see was not written by us; any other failure may pass.
      if (isChannelError(error) && lasting.has(error.code)) return false;
      throw error;
    }
  }

  async function placeFor(
    { type, event }: EventEnvelope,
    signal: () => AbortSignal,
  ): Promise<Place | undefined> {
    const named = textAt(event, "chat_id") ?? textAt(objectAt(event, "context"), "open_chat_id");
    if (type === "im.message.recalled_v1" || type === "card.action.trigger") {
      return named === undefined ? undefined : { chatId: named, kind: await places.kind(named, signal()) };
    }
    const messageId = type.startsWith("im.message.reaction.") ? textAt(event, "message_id") : undefined;
    if (messageId === undefined) return undefined;
    try {
      const chatId = (await places.message(messageId, signal()))?.chatId;
      return chatId === undefined ? undefined : { chatId, kind: await places.kind(chatId, signal()) };
    } catch (error) {
      if (isChannelError(error) && lasting.has(error.code)) return undefined;
      throw error;
    }
  }

  function note(reason: string): void {
    trouble = { reason, at: context.clock.now() };
  }

  /** Keeps an account's lasting trouble for `health`, and counts what is under way for `stop`. */
  async function tracked<T>(work: Promise<T>): Promise<T> {
    running.add(work);
    try {
      const result = await work;
      trouble = undefined;
      return result;
    } catch (error) {
      if (isChannelError(error) && error.scope === "account") note(error.message);
      throw error;
    } finally {
      running.delete(work);
    }
  }

  /** The platform goes by the message alone: a change asked for in one chat must not reach into another. */
  async function staysIn(to: FeishuAddress, messageId: string, signal: AbortSignal): Promise<void> {
    // Where a person stands for the chat there is nothing to compare.
    if (idType(to.id) !== "chat_id") return;
    const chatId = (await places.message(messageId, signal))?.chatId;
    if (chatId === to.id) return;
    throw new ChannelError("not_found", "Feishu: there is no such message in this conversation");
  }

  const webhook = createWebhook(context, accept);
  const socket =
    context.config.transport === "socket"
      ? createSocket({ context, handle: accept, caughtUp: readMissed })
      : undefined;

  async function readMissed(since: number): Promise<void> {
    const span = { since, appId: context.config.appId, signal: context.signal };
    for (const event of await missedMessages(api, places.recent(), span)) await accept(event);
  }

  return {
    async start(signal) {
      signal.throwIfAborted();
      if (state === "starting") await socket?.start(signal);
      if (state === "starting") state = "ready";
    },
    async stop({ drainMs }) {
      state = "stopped";
      socket?.stop();
      if (running.size > 0) await Promise.race([Promise.allSettled(running), context.clock.delay(drainMs)]);
    },
    health(): Health {
      if (state !== "ready") return { state };
      const connection = socket?.health();
      if (connection !== undefined && connection.state !== "ready") return connection;
      return trouble === undefined ? { state } : { state: "degraded", reason: trouble.reason };
    },
    self: () => people.known(),
    webhook: async (request, read) => {
      if (socket !== undefined)
        return Response.json({ error: "this account takes no webhooks" }, { status: 404 });
      const answer = webhook(request, read);
      running.add(answer);
      return answer.finally(() => running.delete(answer));
    },
    send: (to, message, options) => tracked(sender.send(to, message, options)),
    edit: (to, messageId, message, signal) =>
      tracked(staysIn(to, messageId, signal).then(() => sender.edit(messageId, message, signal))),
    remove: (to, messageId, signal) =>
      tracked(staysIn(to, messageId, signal).then(() => sender.remove(messageId, signal))),
    react: (to, messageId, { emoji, on }, signal) =>
      tracked(staysIn(to, messageId, signal).then(() => sender.react(messageId, emoji, on, signal))),
    async typing(_to, { on, messageId }, signal) {
      if (messageId !== undefined) await tracked(sender.react(messageId, typingReaction, on, signal));
    },
    openDirect: async (userId) => ({ id: userId }),
    history: (to, options) => tracked(archive.history(to, options)),
    resolve: (userId, signal) => people.name(userId, signal),
    async openDraft(to, options) {
      if (options.messageId !== undefined) await tracked(staysIn(to, options.messageId, options.signal));
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
    fetchMedia: (ref, signal) => tracked(archive.fetchMedia(ref, signal)),
    reconcile: (intent, signal) => tracked(archive.reconcile(intent, signal)),
  };
}

/** Refusals that the same question would meet again. */
const lasting: ReadonlySet<string> = new Set(["permission", "not_found", "invalid", "unsupported"]);
