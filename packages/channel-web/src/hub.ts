import {
  type Channel,
  type ChannelContext,
  type ChannelDefinition,
  ChannelError,
  type Draft,
  defineChannel,
  type EmitResult,
  type Health,
  normalizeLineEnds,
  type Outbound,
  type PartReceipt,
  type Receipt,
} from "@signalbox/channel";
import { z } from "zod";
import { addressCodec, type WebAddress } from "./address.ts";

/** The channel has nothing to configure. */
export type WebConfig = Readonly<Record<never, never>>;

/** A message of somebody whom the host has authenticated. */
export interface WebMessage {
  readonly conversation: string;
  readonly user: { readonly id: string; readonly name?: string };
  readonly text: string;
  /** By the client, the same when it tries again: a message is taken once under it. */
  readonly id: string;
  /** The message it answers. */
  readonly replyTo?: string;
}

/** What a viewer of a conversation is shown. */
export type WebUpdate =
  | {
      readonly type: "message";
      readonly conversation: string;
      readonly messageId: string;
      readonly text: string;
      readonly markup: "plain" | "markdown";
      readonly replyTo?: string;
    }
  /** An answer as far as it is written; replaces the one before it, and is replaced by the message. */
  | { readonly type: "draft"; readonly conversation: string; readonly draftId: string; readonly text: string }
  | { readonly type: "draft.aborted"; readonly conversation: string; readonly draftId: string };

/** The web channel and the two ends that the host connects to browsers and API clients. */
export interface WebHub {
  readonly definition: ChannelDefinition<WebConfig, WebAddress>;
  /**
   * Hands a message in. Resolves once it is durable (or refused).
   *
   * @throws ChannelError `transient` while no account is running, `invalid` for an empty id or conversation
   */
  submit(message: WebMessage): Promise<EmitResult>;
  /** Shows what goes to a conversation from now on. Returns what ends it. A listener that throws is left out. */
  subscribe(conversation: string, listener: (update: WebUpdate) => void): () => void;
}

/** Makes a hub; it serves one account, the one last created. */
export function createWebHub(): WebHub {
  const viewers = new Map<string, Set<(update: WebUpdate) => void>>();
  let current:
    | { readonly context: ChannelContext<WebConfig>; readonly channel: Channel<WebAddress> }
    | undefined;

  function publish(update: WebUpdate): void {
    for (const show of viewers.get(update.conversation) ?? []) {
      try {
        show(update);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        current?.context.logger.warn("a viewer could not be shown an update", { reason });
      }
    }
  }

  const definition: WebHub["definition"] = defineChannel({
    specVersion: 1,
    id: "web",
    meta: { label: "Web", description: "Browsers and API clients of this gateway.", fields: {} },
    config: z.object({}),
    capabilities: {
      text: { unit: "utf16", markup: "markdown" },
      stream: "native",
      threads: "none",
      delivery: { idempotencyKey: { windowMs: Number.MAX_SAFE_INTEGER } },
      rate: [],
      transports: ["internal"],
    },
    codec: addressCodec,
    create: async (context: ChannelContext<WebConfig>) => {
      const channel = createWebChannel(publish);
      current = { context, channel };
      return channel;
    },
  });

  return {
    definition,
    async submit({ conversation, user, text, id, replyTo }) {
      if (current?.channel.health().state !== "ready") {
        throw new ChannelError("transient", "The web channel is not running", { scope: "account" });
      }
      if (id === "" || conversation === "" || user.id === "") {
        throw new ChannelError("invalid", "A message needs an id, a conversation and a user");
      }
      const { context } = current;
      return context.emit({
        type: "message",
        eventId: id,
        messageId: id,
        channel: "web",
        account: context.account,
        conversation: { id: conversation, kind: "direct" },
        address: addressCodec.encode({ conversation }),
        sender: { ...user, isBot: false, isSelf: false },
        addressed: "dm",
        text: normalizeLineEnds(text),
        media: [],
        mentions: [],
        timestamp: context.clock.now(),
        ...(replyTo === undefined ? {} : { replyTo: { messageId: replyTo } }),
      });
    },
    subscribe(conversation, listener) {
      const listeners = viewers.get(conversation) ?? new Set();
      viewers.set(conversation, listeners);
      const show = (update: WebUpdate) => listener(update);
      listeners.add(show);
      return () => {
        listeners.delete(show);
        if (listeners.size === 0 && viewers.get(conversation) === listeners) viewers.delete(conversation);
      };
    },
  };
}

type WebChannel = Channel<WebAddress> & Required<Pick<Channel<WebAddress>, "openDraft">>;

function createWebChannel(publish: (update: WebUpdate) => void): WebChannel {
  let state: Health["state"] & ("starting" | "ready" | "stopped") = "starting";

  function show(
    { conversation }: WebAddress,
    message: Outbound,
    key: string,
    {
      startAt = 0,
      firstId = `${key}.0`,
    }: { readonly startAt?: number | undefined; readonly firstId?: string } = {},
  ): Receipt {
    const parts: PartReceipt[] = [];
    for (const [index, part] of message.parts.entries()) {
      if (index < startAt) continue;
      if (part.type !== "text" && part.type !== "markdown") {
        throw new ChannelError("unsupported", `The web channel shows no ${part.type}`, {
          receipt: { parts },
        });
      }
      const messageId = index === 0 ? firstId : `${key}.${index}`;
      const replyTo = index === 0 ? message.replyTo : undefined;
      publish({
        type: "message",
        conversation,
        messageId,
        text: part.text,
        markup: part.type === "text" ? "plain" : "markdown",
        ...(replyTo === undefined ? {} : { replyTo }),
      });
      parts.push({ index, messageId });
    }
    return { parts };
  }

  return {
    async start(signal) {
      signal.throwIfAborted();
      if (state === "starting") state = "ready";
    },
    async stop() {
      state = "stopped";
    },
    health: () => ({ state }),
    self: () => ({ id: "web" }),
    async send(to, message, { idempotencyKey, startAt, onPart }) {
      const receipt = show(to, message, idempotencyKey, { startAt });
      for (const part of receipt.parts) await onPart?.(part);
      return receipt;
    },
    async openDraft({ conversation }, { idempotencyKey, replyTo, messageId = `${idempotencyKey}.0` }) {
      let open = true;
      const draft: Draft = {
        messageId,
        async update(text) {
          if (open) publish({ type: "draft", conversation, draftId: idempotencyKey, text });
        },
        async finalize(message, options) {
          if (!open) throw new ChannelError("invalid", "The draft is finished");
          open = false;
          const whole = replyTo === undefined ? message : { replyTo, ...message };
          const key = options?.idempotencyKey ?? idempotencyKey;
          const receipt = show({ conversation }, whole, key, { firstId: messageId });
          for (const part of receipt.parts) await options?.onPart?.(part);
          return receipt;
        },
        async abort() {
          if (open) publish({ type: "draft.aborted", conversation, draftId: idempotencyKey });
          open = false;
        },
      };
      return draft;
    },
  };
}
