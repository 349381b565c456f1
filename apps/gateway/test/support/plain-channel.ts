import type {
  Channel,
  ChannelDefinition,
  EditedEvent,
  EmitResult,
  InboundEvent,
  MessageEvent,
  Outbound,
} from "@signalbox/channel";

/** A channel of text alone that a test drives by hand. */
export interface PlainChannel {
  readonly definition: ChannelDefinition;
  emit(event: InboundEvent): Promise<EmitResult>;
  /** What reached the platform. */
  readonly sent: readonly { readonly to: unknown; readonly key: string; readonly message: Outbound }[];
}

/** @param methods what its platform can do besides. */
export function plainChannel(methods: Partial<Channel> = {}): PlainChannel {
  const sent: { to: unknown; key: string; message: Outbound }[] = [];
  let emit: PlainChannel["emit"] = () => Promise.reject(new Error("the channel does not run"));
  return {
    definition: {
      specVersion: 1,
      id: "plain",
      meta: { label: "Plain", fields: {} },
      config: { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }) } },
      capabilities: {
        text: { unit: "utf16", markup: "plain" },
        stream: "none",
        threads: "reply",
        delivery: { idempotencyKey: { windowMs: 3_600_000 } },
        rate: [],
        transports: ["internal"],
      },
      codec: { encode: String, decode: (text) => text },
      create: async (context) => {
        ({ emit } = context);
        return {
          start: async () => {},
          stop: async () => {},
          health: () => ({ state: "ready" }),
          self: () => ({ id: "bot" }),
          send: async (to, message, { idempotencyKey }) => {
            sent.push({ to, key: idempotencyKey, message });
            return { parts: message.parts.map((_, index) => ({ index, messageId: `out-${sent.length}` })) };
          },
          ...methods,
        };
      },
    },
    emit: (event) => emit(event),
    sent,
  };
}

/** A message as the plain channel hands it over. */
export function plainMessage(id: string, text: string, more: Partial<MessageEvent> = {}): MessageEvent {
  return {
    type: "message",
    eventId: `event-${id}`,
    messageId: id,
    channel: "plain",
    account: "main",
    conversation: { id: "room", kind: "direct" },
    address: "plain:room",
    sender: { id: "anna", isBot: false, isSelf: false },
    addressed: "dm",
    timestamp: 0,
    text,
    media: [],
    mentions: [],
    ...more,
  };
}

/** The same message with another text, as the platform tells of it. */
export function plainEdit(message: MessageEvent, text: string, more: Partial<EditedEvent> = {}): EditedEvent {
  return { ...message, type: "edited", eventId: `${message.eventId}-edit`, text, ...more };
}

/** Written in a group without a word to the bot. */
export const IN_GROUP = {
  conversation: { id: "group", kind: "group" },
  address: "plain:group",
  addressed: "none",
} as const;

/** The words of each message that was sent, in order. */
export function said({ sent }: PlainChannel): string[] {
  return sent.map(({ message }) => message.parts.map((part) => ("text" in part ? part.text : "")).join());
}
