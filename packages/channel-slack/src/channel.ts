import {
  type Channel,
  type ChannelContext,
  ChannelError,
  type ChannelMethods,
  createWebhook,
  createWebhookMonitor,
  type HandleResult,
  type HostedAccount,
  hostedChannel,
  isChannelError,
  isRetryable,
  objectAt,
  rejectWebhook,
  textAt,
} from "@signalbox/channel";
import { parseMessageId, type SlackAddress } from "./address.ts";
import { createApi, type SlackApi } from "./api.ts";
import { checkAccount } from "./checks.ts";
import { apiBase, type SlackConfig } from "./config.ts";
import { createSocketTransport, createWebhookTransport } from "./connection/transports.ts";
import { createConversations } from "./conversations.ts";
import { createHistory, readHistory } from "./history.ts";
import type { Envelope } from "./inbound/envelope.ts";
import { createReceiver, type Receiver } from "./inbound/receive.ts";
import { createVerifier } from "./inbound/webhook.ts";
import { createThreads } from "./joined-threads.ts";
import { limits } from "./limits.ts";
import { fetchMedia } from "./media.ts";
import { createCommandResponses } from "./outbound/command-responses.ts";
import { createDraft } from "./outbound/draft.ts";
import { LostStreams } from "./outbound/lost-streams.ts";
import { reconcile } from "./outbound/reconcile.ts";
import { createSender } from "./outbound/send.ts";
import { createPeople } from "./people.ts";

/** Shown next to the bot's name while it is writing. */
const TYPING_STATUS = "is writing…";

type SlackMethods = Required<Omit<ChannelMethods<SlackAddress>, "closePoll" | "identify">>;
type SlackChannel = Channel<SlackAddress> & SlackMethods;

/** Creates an account. Loads no SDK before the first call of Slack's API. */
export function createSlack(context: ChannelContext<SlackConfig>): SlackChannel {
  return hostedChannel(context, openAccount);
}

function openAccount({ context, activity }: HostedAccount<SlackConfig>) {
  const { config, logger, clock, fetch } = context;
  const api = createApi(context);
  const people = createPeople(context, api);
  const places = createConversations(context.cache, api, () => people.known()?.id ?? "");
  const history = createHistory(context, api);
  const threads = createThreads(context, people);
  const commands = createCommandResponses(context, people);
  const sender = createSender({ api, threads, commands, clock });
  const lostStreams = new LostStreams({ context, api, people, history });
  const setStatus = createStatus(api);
  let receiver: Receiver | undefined;

  /** Another host may have started the account whose webhooks arrive here. */
  async function getReceiver(signal: AbortSignal): Promise<Receiver> {
    const self = await people.ask(signal);
    receiver ??= createReceiver({ context, api, people, places, threads, history, commands, self });
    return receiver;
  }

  const handle = async (envelope: Envelope): Promise<HandleResult> =>
    (receiver ?? (await getReceiver(context.signal))).accept(envelope);

  const monitor = createWebhookMonitor("Slack", context);
  const webhook = createWebhook({
    maxBytes: limits.bodyBytes,
    verify: createVerifier(context),
    handle,
    // Slack would show a response body as the response to the command.
    accepted: () => new Response(),
    monitor,
    logger,
  });
  const catchUp = async (since?: number): Promise<void> =>
    receiver?.backfill.catchUp({ signal: context.signal, since });
  const transportOptions = {
    context,
    people,
    take: async (envelope: Envelope) => (await activity.count(handle(envelope))) !== "rejected",
    expectGaps: () => receiver?.backfill.expectGaps(),
    missed: catchUp,
  };
  const transport =
    config.transport === "socket"
      ? createSocketTransport(transportOptions)
      : createWebhookTransport(transportOptions);

  const methods: SlackMethods = {
    webhook: async (request, read) =>
      config.transport === "webhook" ? webhook(request, read) : rejectWebhook(),
    async send(to, message, options) {
      const receipt = await sender.send(to, message, options);
      await lostStreams.remove(to, options.signal);
      return receipt;
    },
    edit: (to, id, message, signal) => sender.edit(to, id, message, signal),
    remove: (to, id, signal) => sender.remove(to, id, signal),
    react: (to, id, { emoji, on }, signal) => sender.react(to, id, emoji, on, signal),
    typing: (to, { on }, signal) => setStatus(to, on ? TYPING_STATUS : "", signal),
    openDirect: (userId, signal) => openDirect(api, userId, signal),
    history: (to, options) => readHistory(history, people, to, options),
    resolve: (userId, signal) => people.name(userId, signal),
    async openDraft(to, options) {
      if (options.messageId !== undefined) parseMessageId(to, options.messageId);
      return createDraft({ context, api, places, threads, history, sender, lostStreams }, to, options);
    },
    checks: (signal) => checkAccount(context, { api, monitor }, signal),
    fetchMedia: (ref, signal) =>
      fetchMedia({ api, fetch, botToken: config.botToken, apiUrl: apiBase(config) }, ref, signal),
    reconcile: (intent, signal) => reconcile(history, people.known(), intent, signal),
  };

  return {
    async start(signal: AbortSignal) {
      const { backfill } = await getReceiver(AbortSignal.any([signal, context.signal]));
      backfill.expectGaps();
      await transport.start(signal);
    },
    ready: () => void catchUp(),
    disconnect: () => transport.stop(),
    close: async () => receiver?.backfill.stop(),
    connection() {
      const health = transport.health();
      return health.state === "ready" ? (monitor.health() ?? health) : health;
    },
    self: () => people.known(),
    methods,
  };
}

/** Opens the direct conversation with a person. */
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

/** Sets the status that Slack shows next to the bot's name in a thread. */
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
      // The thread may have been deleted.
      if (isRetryable(error)) throw error;
      // The app is not permitted to set a status at all, so further attempts would fail too.
      if (isAppRestriction(error)) hasStatus = false;
    }
  };
}

/** Returns true if the error concerns the app, not this conversation. */
function isAppRestriction(error: unknown): boolean {
  const { code, scope } = isChannelError(error) ? error : {};
  return code === "unsupported" || (code === "permission" && scope !== "conversation");
}
