import {
  type AccountParts,
  type AddressCodec,
  type Capabilities,
  type Channel,
  type ChannelContext,
  type ChannelDefinition,
  ChannelError,
  defineChannel,
  type EmitResult,
  eventBase,
  hostedChannel,
  type MediaRef,
  normalizeLineEnds,
  reasonOf,
  type TurnRequest,
} from "@signalbox/channel";
import { z } from "zod";
import { createAddressCodec, type WebAddress } from "./address.ts";
import {
  type AttachmentSources,
  type FetchUrl,
  fetchAttachment,
  MAX_ATTACHMENT_BYTES,
  type OpenUpload,
} from "./attachments.ts";
import { sendToViewers, type WebUpdate } from "./send.ts";

/** The channel has no configuration. */
export type WebConfig = Readonly<Record<never, never>>;

/** A message from a user whom the host has authenticated. */
export interface WebMessage {
  readonly conversation: string;
  readonly user: {
    readonly id: string;
    readonly name?: string;
    /** Role of the user. Default: `owner`. */
    readonly authenticatedAs?: "owner" | "member";
  };
  readonly text: string;
  /** Id from the client. It stays the same when the client retries, so that duplicates are ignored. */
  readonly id: string;
  /** Id of the message that it replies to. */
  readonly replyTo?: string;
  /** Attachments, created by `attachmentOf` or `uploadOf`. */
  readonly media?: readonly MediaRef[];
  /** Origin of the text, if the user did not write it. */
  readonly forwardedFrom?: string;
  /** Further options for the turn. */
  readonly turn?: TurnRequest;
}

export interface WebHubOptions {
  /** The channel's id. Default: `web`. */
  readonly id?: string;
  /** The display name. Default: `Web`. */
  readonly label?: string;
  /** Clients wait for a single answer, as in a request/response API. Default: they watch the conversation. */
  readonly awaitsSingleAnswer?: boolean;
  /** Downloads attachments that a client specifies by URL. Default: only `data:` URLs and uploads are accepted. */
  readonly fetchUrl?: FetchUrl;
  /** Opens files that a client has uploaded to the host. Default: uploads are not accepted. */
  readonly openUpload?: OpenUpload;
}

/** A channel for clients of the host, with the functions that connect them to it. */
export interface WebHub {
  readonly definition: ChannelDefinition<WebConfig, WebAddress>;
  /**
   * Submits a message. Resolves once it has been stored or rejected.
   *
   * @throws ChannelError `transient` while no account is running, `invalid` for an empty id or conversation
   */
  submit(message: WebMessage): Promise<EmitResult>;
  /**
   * Calls the listener with every message sent to a conversation from now on. Errors of a listener are logged.
   *
   * @returns a function that ends the subscription
   */
  subscribe(conversation: string, listener: (update: WebUpdate) => void): () => void;
}

/** Creates a hub. It serves only one account: the most recently created one. */
export function createWebHub(options: WebHubOptions = {}): WebHub {
  return new Hub(options);
}

class Hub implements WebHub {
  readonly #channelId: string;
  readonly #codec: AddressCodec<WebAddress>;
  readonly #viewers = new Map<string, Set<(update: WebUpdate) => void>>();
  #current:
    | { readonly context: ChannelContext<WebConfig>; readonly channel: Channel<WebAddress> }
    | undefined;
  readonly definition: ChannelDefinition<WebConfig, WebAddress>;

  constructor(options: WebHubOptions = {}) {
    this.#channelId = options.id ?? "web";
    const label = options.label ?? "Web";
    const awaitsSingleAnswer = options.awaitsSingleAnswer ?? false;
    this.#codec = createAddressCodec(this.#channelId);
    this.definition = defineChannel({
      specVersion: 1,
      id: this.#channelId,
      meta: {
        label,
        description: "Browsers and API clients that connect directly to this gateway.",
        fields: {},
      },
      config: z.object({}),
      capabilities: capabilitiesOf(awaitsSingleAnswer),
      codec: this.#codec,
      create: async (context: ChannelContext<WebConfig>) => {
        const channel = hostedChannel(context, () => this.#account(options));
        this.#current = { context, channel };
        return channel;
      },
    });
  }

  async submit(message: WebMessage): Promise<EmitResult> {
    const { conversation, user, text, id, replyTo, media = [], forwardedFrom, turn } = message;
    if (this.#current?.channel.health().state !== "ready") {
      throw new ChannelError("transient", `The channel ${this.#channelId} is not running`, {
        scope: "account",
      });
    }
    if (id === "" || conversation === "" || user.id === "") {
      throw new ChannelError("invalid", "A message needs an id, a conversation and a user");
    }
    const { context } = this.#current;
    const facts = { account: context.account, now: context.clock.now(), raw: false };
    return context.emit({
      ...eventBase(this.#channelId, facts, {
        eventId: id,
        conversation: { id: conversation, kind: "direct" },
        address: this.#codec.encode({ conversation }),
        sender: { ...user, isBot: false, isSelf: false },
      }),
      type: "message",
      messageId: id,
      text: normalizeLineEnds(text),
      media,
      mentions: [],
      references: replyTo === undefined ? undefined : [{ kind: "reply", messageId: replyTo }],
      forwarded: forwardedFrom === undefined ? undefined : { from: forwardedFrom },
      turn,
    });
  }

  subscribe(conversation: string, listener: (update: WebUpdate) => void): () => void {
    const listeners = this.#viewers.get(conversation) ?? new Set();
    this.#viewers.set(conversation, listeners);
    const show = (update: WebUpdate) => listener(update);
    listeners.add(show);
    return () => {
      listeners.delete(show);
      if (listeners.size === 0 && this.#viewers.get(conversation) === listeners)
        this.#viewers.delete(conversation);
    };
  }

  #account(sources: AttachmentSources): AccountParts<WebMethods> {
    return {
      self: () => ({ id: this.#channelId }),
      methods: {
        send: ({ conversation }, message, options) =>
          sendToViewers((update) => this.#publish(update), conversation, message, options),
        fetchMedia: (media, signal) => fetchAttachment(media, sources, signal),
      },
    };
  }

  #publish(update: WebUpdate): void {
    for (const show of this.#viewers.get(update.conversation) ?? []) {
      try {
        show(update);
      } catch (error) {
        const reason = reasonOf(error);
        this.#current?.context.logger.warn("a viewer could not be shown an update", { reason });
      }
    }
  }
}

function capabilitiesOf(awaitsSingleAnswer: boolean) {
  return {
    text: { unit: "utf16", markup: "markdown" },
    media: { kinds: ["image", "file"], maxBytes: MAX_ATTACHMENT_BYTES, maxPerMessage: 20 },
    stream: "none",
    threads: "none",
    readsSession: true,
    authenticatedByGateway: true,
    awaitsSingleAnswer,
    delivery: { idempotencyKey: { windowMs: Number.MAX_SAFE_INTEGER } },
    rate: [],
    intake: "acknowledged",
    transports: ["internal"],
  } satisfies Capabilities;
}

type WebMethods = Pick<Channel<WebAddress>, "send"> & Required<Pick<Channel<WebAddress>, "fetchMedia">>;
