import {
  type Channel,
  type ChannelContext,
  ChannelError,
  type ChannelMethods,
  createEditedDraft,
  createWebhook,
  eventFacts,
  fitText,
  getSinglePart,
  type HandleResult,
  type HostedAccount,
  hostedChannel,
  type OutboundPart,
  type Payload,
  sendParts,
  textLength,
} from "@signalbox/channel";
import type { Address } from "./address.ts";
import { createApi } from "./api.ts";
import type { Config } from "./config.ts";
import { readEvent } from "./events.ts";
import { createVerifier } from "./verify.ts";

const limit = { max: 2_000, unit: "codepoints" } as const;

/** The methods that the capabilities of the definition require. */
type Methods = Pick<ChannelMethods<Address>, "send"> &
  Required<Pick<ChannelMethods<Address>, "edit" | "remove" | "openDraft" | "webhook">>;

/** Creates an account. */
export function createChannel(context: ChannelContext<Config>): Channel<Address> & Methods {
  return hostedChannel(context, openAccount);
}

function openAccount({ context }: HostedAccount<Config>) {
  const { config, logger, clock } = context;
  const api = createApi(context);
  // On a real platform, request the bot's id in `start`.
  const botId = "bot";

  /** Emits an event. It is acknowledged only after `emit` has stored it. */
  async function handle(payload: Payload): Promise<HandleResult> {
    const event = readEvent(payload, eventFacts(context, botId));
    return event === undefined ? "malformed" : context.emit(event);
  }

  const webhook = createWebhook({
    maxBytes: 1_048_576,
    verify: createVerifier(config.signingSecret, clock),
    handle,
    logger,
  });

  const send: Methods["send"] = ({ conversation }, message, options) =>
    sendParts(message, options, async ({ part, key, replyTo }) =>
      api.post(conversation, textOf(part), { key, replyTo, signal: options.signal }),
    );

  const methods: Methods = {
    webhook,
    send,
    edit: (_to, messageId, message, signal) => api.put(messageId, textOf(getSinglePart(message)), signal),
    remove: (_to, messageId, signal) => api.remove(messageId, signal),
    async openDraft(to, options) {
      const { signal } = options;
      return createEditedDraft<string>(
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
    },
  };
  return { self: () => ({ id: botId }), methods };
}

/** @throws ChannelError if the capabilities do not include this part, or if it is too long */
function textOf(part: OutboundPart): string {
  if (part.type !== "text")
    throw new ChannelError("unsupported", `__LABEL__ cannot send a part of type ${part.type}`);
  if (part.text.trim() === "") throw new ChannelError("invalid", "__LABEL__: the message is empty");
  if (textLength(part.text, limit.unit) <= limit.max) return part.text;
  throw new ChannelError("too_large", `__LABEL__: a message holds at most ${limit.max} characters`);
}
