import {
  type Activity,
  type Channel,
  type ChannelContext,
  ChannelError,
  createActivity,
  createWebhook,
  type Handled,
  isChannelError,
  isLasting,
  noWebhooks,
  type Outbound,
  objectAt,
  type Receipt,
  type SendOptions,
  textAt,
} from "@signalbox/channel";
import { parseMessageId, type SlackAddress } from "./address.ts";
import { createApi, type SlackApi } from "./api.ts";
import { checkAccount } from "./checks.ts";
import { apiBase, type SlackConfig } from "./config.ts";
import { createSocketTransport, createWebhookTransport } from "./connection/transports.ts";
import { type Conversations, createConversations } from "./conversations.ts";
import { createHistory, type History, readHistory } from "./history.ts";
import type { Envelope } from "./inbound/envelope.ts";
import { createReceiver, type Receiver } from "./inbound/receive.ts";
import { createVerifier } from "./inbound/webhook.ts";
import { createThreads, type Threads } from "./joined-threads.ts";
import { limits } from "./limits.ts";
import { fetchMedia } from "./media.ts";
import { createCommandResponses } from "./outbound/command-responses.ts";
import { createDraft } from "./outbound/draft.ts";
import { LostStreams } from "./outbound/lost-streams.ts";
import { reconcile } from "./outbound/reconcile.ts";
import { createSender, type Sender } from "./outbound/send.ts";
import { createPeople, type People } from "./people.ts";

/** What Slack shows beside the bot's name while it writes. */
const TYPING_STATUS = "is writing…";

/** Everything a channel may do. */
type SlackChannel = Omit<Required<Channel<SlackAddress>>, "closePoll">;

/** One account. Loads no SDK before the first call of the platform's API. */
export function createSlack(context: ChannelContext<SlackConfig>): SlackChannel {
  const { config, logger, clock } = context;
  const activity = createActivity(clock);
  const api = createApi(context);
  const people = createPeople(context, api);
  const places = createConversations(context.cache, api, () => people.known()?.id ?? "");
  const history = createHistory(context, api);
  const threads = createThreads(context, people);
  const commands = createCommandResponses(context, people);
  const sender = createSender({ api, threads, commands, clock });
  const lostStreams = new LostStreams({ context, api, people, history });
  const parts: Parts = { context, api, people, places, threads, history, sender, lostStreams, activity };
  let receiver: Receiver | undefined;
  let state: "starting" | "ready" | "stopped" = "starting";

  async function handle(envelope: Envelope): Promise<Handled> {
    if (state === "stopped" || context.signal.aborted || receiver === undefined) return "rejected";
    return receiver.accept(envelope);
  }

  const webhook = createWebhook({
    maxBytes: limits.bodyBytes,
    verify: createVerifier(context),
    handle,
    // A body would be shown as the answer to a command.
    accepted: () => new Response(),
    logger,
  });
  const lineOptions = {
    context,
    people,
    take: async (envelope: Envelope) => (await activity.count(handle(envelope))) !== "rejected",
    missed: catchUp,
  };
  const line =
    config.transport === "socket" ? createSocketTransport(lineOptions) : createWebhookTransport(lineOptions);

  async function catchUp(since?: number): Promise<void> {
    await receiver?.backfill.catchUp({ signal: context.signal, ...(since === undefined ? {} : { since }) });
  }

  return {
    async start(signal) {
      signal.throwIfAborted();
      if (state !== "starting") return;
      const self = await people.ask(AbortSignal.any([signal, context.signal]));
      receiver = createReceiver({ ...parts, commands, self });
      await line.start(signal);
      // Stopped meanwhile.
      if (state !== "starting") return line.stop();
      state = "ready";
      void catchUp();
    },
    async stop({ drainMs }) {
      const wasStopped = state === "stopped";
      state = "stopped";
      line.stop();
      await activity.ended(drainMs);
      if (!wasStopped) await receiver?.backfill.stop().catch(() => {});
    },
    health: () => activity.health(state, line.health()),
    webhook: async (request, read) =>
      config.transport === "webhook" ? activity.count(webhook(request, read)) : noWebhooks(),
    ...methodsOf(parts),
  };
}

interface Parts {
  readonly context: ChannelContext<SlackConfig>;
  readonly api: SlackApi;
  readonly people: People;
  readonly places: Conversations;
  readonly threads: Threads;
  readonly history: History;
  readonly sender: Sender;
  readonly lostStreams: LostStreams;
  readonly activity: Activity;
}

/** What an account does while it runs. */
function methodsOf(parts: Parts): Omit<SlackChannel, "start" | "stop" | "health" | "webhook"> {
  const { context, api, people, history, sender, lostStreams, activity } = parts;
  const { config } = context;
  const setStatus = createStatus(api);

  async function send(to: SlackAddress, message: Outbound, options: SendOptions): Promise<Receipt> {
    const receipt = await sender.send(to, message, options);
    await lostStreams.remove(to, options.signal);
    return receipt;
  }

  return {
    self: () => people.known(),
    send: (to, message, options) => activity.track(send(to, message, options)),
    edit: (to, id, message, signal) => activity.track(sender.edit(to, id, message, signal)),
    remove: (to, id, signal) => activity.track(sender.remove(to, id, signal)),
    react: (to, id, { emoji, on }, signal) => activity.track(sender.react(to, id, emoji, on, signal)),
    typing: (to, { on }, signal) => activity.track(setStatus(to, on ? TYPING_STATUS : "", signal)),
    openDirect: (userId, signal) => activity.track(openDirect(api, userId, signal)),
    history: (to, options) => activity.track(readHistory(history, people, to, options)),
    resolve: (userId, signal) => people.name(userId, signal),
    async openDraft(to, options) {
      if (options.messageId !== undefined) parseMessageId(to, options.messageId);
      return activity.draft(createDraft(parts, to, options));
    },
    checks: (signal) => activity.track(checkAccount(context, api, signal)),
    fetchMedia: (ref, signal) =>
      activity.track(
        fetchMedia(
          { api, fetch: context.fetch, botToken: config.botToken, apiUrl: apiBase(config) },
          ref,
          signal,
        ),
      ),
    reconcile: (intent, signal) => activity.track(reconcile(history, people.known(), intent, signal)),
  };
}

/** A person stands for the direct conversation with them. */
async function openDirect(api: SlackApi, userId: string, signal: AbortSignal): Promise<SlackAddress> {
  const options = { what: "opening a conversation", write: false, signal };
  const channel = textAt(
    objectAt(await api.call("conversations.open", { users: userId }, options), "channel"),
    "id",
  );
  if (channel === undefined)
    throw new ChannelError("not_found", "Slack: cannot open a conversation with this user");
  return { channel };
}

/** What Slack shows beside the bot's name in a thread. */
function createStatus(api: SlackApi) {
  let hasStatus = true;
  return async ({ channel, thread }: SlackAddress, status: string, signal: AbortSignal): Promise<void> => {
    if (thread === undefined || !hasStatus) return;
    const args = { channel_id: channel, thread_ts: thread, status };
    try {
      await api.call("assistant.threads.setStatus", args, {
        what: "showing the typing indicator",
        write: false,
        signal,
      });
    } catch (error) {
      // A thread that is gone says nothing about the others.
      if (!isLasting(error)) throw error;
      // An app that may not would be told so at every answer.
      if (isAppRestriction(error)) hasStatus = false;
    }
  };
}

/** Whether it is the app that is refused, wherever it asks. */
function isAppRestriction(error: unknown): boolean {
  const { code, scope } = isChannelError(error) ? error : {};
  return code === "unsupported" || (code === "permission" && scope !== "conversation");
}
