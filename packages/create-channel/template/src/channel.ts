import {
  type Channel,
  type ChannelContext,
  ChannelError,
  createActivity,
  createEditedDraft,
  createWebhook,
  fitText,
  type Handled,
  type OutboundPart,
  type Payload,
  sendParts,
  textLength,
  theOnePart,
} from "@signalbox/channel";
import type { Address } from "./address.ts";
import { createApi } from "./api.ts";
import type { Config } from "./config.ts";
import { readEvent } from "./events.ts";
import { createVerifier } from "./verify.ts";

const limit = { max: 2_000, unit: "codepoints" } as const;

/** What the capabilities of the definition claim. */
type Running = Channel<Address> &
  Required<Pick<Channel<Address>, "edit" | "remove" | "openDraft" | "webhook">>;

/** One account. */
export function createChannel(context: ChannelContext<Config>): Running {
  const { config, logger, clock } = context;
  const api = createApi(context);
  // A real platform tells who the bot is; ask it in `start`.
  const botId = "bot";
  let state: "starting" | "ready" | "stopped" = "starting";
  const activity = createActivity(clock);

  /** Acknowledged only after `emit` said that the event is stored. */
  async function handle(payload: Payload): Promise<Handled> {
    if (state === "stopped") return "rejected";
    const facts = { account: context.account, botId, now: clock.now(), raw: context.raw ?? false };
    const event = readEvent(payload, facts);
    return event === undefined ? "malformed" : context.emit(event);
  }

  const webhook = createWebhook({
    maxBytes: 1_048_576,
    verify: createVerifier(config.signingSecret, clock),
    handle,
    logger,
  });

  const send: Running["send"] = ({ conversation }, message, options) =>
    sendParts(message, options, async ({ part, key, replyTo }) =>
      api.post(conversation, textOf(part), { key, replyTo, signal: options.signal }),
    );

  return {
    async start(signal) {
      signal.throwIfAborted();
      if (state === "starting") state = "ready";
    },
    async stop({ drainMs }) {
      state = "stopped";
      await activity.ended(drainMs);
    },
    health: () => activity.health(state),
    self: () => ({ id: botId }),
    webhook: (request, read) => activity.count(webhook(request, read)),
    send: (to, message, options) => activity.track(send(to, message, options)),
    edit: async (_to, messageId, message, signal) =>
      activity.track(api.put(messageId, textOf(theOnePart(message)), signal)),
    remove: (_to, messageId, signal) => activity.track(api.remove(messageId, signal)),
    async openDraft(to, options) {
      const { signal } = options;
      const draft = createEditedDraft<string>(
        {
          snapshot: (text) => fitText(text, limit),
          render: textOf,
          create: (text, { key, replyTo }) => api.post(to.conversation, text, { key, replyTo, signal }),
          change: (messageId, text) => api.put(messageId, text, signal),
          remove: (messageId) => api.remove(messageId, signal),
          sendRest: (message, how) => send(to, message, { ...how, signal }),
        },
        options,
      );
      return activity.draft(draft);
    },
  };
}

/** @throws ChannelError for a part that the capabilities do not claim, and one that is too long */
function textOf(part: OutboundPart): string {
  if (part.type !== "text")
    throw new ChannelError("unsupported", `__LABEL__ takes no parts of type ${part.type}`);
  if (part.text.trim() === "") throw new ChannelError("invalid", "__LABEL__: an empty message");
  if (textLength(part.text, limit.unit) <= limit.max) return part.text;
  throw new ChannelError("too_large", `__LABEL__: a message holds at most ${limit.max} characters`);
}
