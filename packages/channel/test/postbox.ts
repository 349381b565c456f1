import {
  type Channel,
  type ChannelContext,
  type ChannelDefinition,
  ChannelError,
  type InboundEvent,
  type OutboundPart,
  readMedia,
  type SendOptions,
} from "../src/index.ts";
import type { ChannelHarness, Delivery, Failure, Platform, SentMedia } from "../src/testkit/index.ts";

/** A platform in memory: what people write is polled, what the bot writes is kept under its key. */
interface Post {
  readonly sent: Map<string, string>;
  readonly files: Map<string, SentMedia>;
  deliver: ((delivery: Delivery) => Promise<boolean>) | undefined;
  failure: Failure | undefined;
  revoked: boolean;
}

const posts = new Map<string, Post>();

interface Config {
  readonly post: string;
  readonly password: string;
}

/** Faults to plant: each must be caught by the kit. */
export interface Faults {
  readonly acknowledgesEarly?: boolean;
  readonly newEventIds?: boolean;
  readonly ignoresStart?: boolean;
  readonly sendsTwice?: boolean;
  readonly claimsReactions?: boolean;
  readonly tellsPassword?: boolean;
  readonly leavesTimers?: boolean;
  readonly takesAnyLength?: boolean;
  readonly addressesWithoutPrefix?: boolean;
  readonly hidesBots?: boolean;
  readonly forgetsRetry?: boolean;
  readonly listensAfterStop?: boolean;
  readonly takesAnyFile?: boolean;
  readonly cutsFiles?: boolean;
  readonly sendsFilesTwice?: boolean;
}

/** The least a channel can be, and the ways it can be wrong. */
export function createPostbox(faults: Faults = {}): {
  definition: ChannelDefinition<Config, { id: string }>;
  harness: ChannelHarness<{ id: string }>;
} {
  const prefix = faults.addressesWithoutPrefix ? "" : "postbox:";
  const definition: ChannelDefinition<Config, { id: string }> = {
    specVersion: 1,
    id: "postbox",
    meta: { label: "Postbox", fields: { password: { label: "Password", secret: true } } },
    config: {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: (value: unknown) =>
          typeof value === "object" && value !== null && "post" in value && "password" in value
            ? { value: { post: String(value.post), password: String(value.password) } }
            : { issues: [{ message: "post and password are missing" }] },
      },
    },
    capabilities: {
      text: { max: 50, unit: "codepoints", markup: "plain" },
      sendMedia: { file: { maxBytes: 100, mimeTypes: ["text/plain"] } },
      stream: "none",
      threads: "none",
      delivery: { idempotencyKey: { windowMs: 1000 } },
      rate: [],
      transports: ["poll"],
      ...(faults.claimsReactions ? { reactions: true } : {}),
    },
    codec: {
      encode: ({ id }: { id: string }) => prefix + encodeURIComponent(id),
      decode(text: string) {
        const id = text.startsWith(prefix) ? text.slice(prefix.length) : "";
        if (!/^[\w%.~!*'()-]+$/.test(id)) throw new ChannelError("invalid", "not an address");
        try {
          if (encodeURIComponent(decodeURIComponent(id)) === id) return { id: decodeURIComponent(id) };
        } catch {}
        throw new ChannelError("invalid", "not an address");
      },
    },
    create: async (context) => createChannel(context, faults, definition),
  };
  return { definition, harness: createHarness(faults) };
}

function createChannel(
  context: ChannelContext<Config>,
  faults: Faults,
  definition: Pick<ChannelDefinition, "capabilities">,
): Channel<{ id: string }> {
  const post = posts.get(context.config.post);
  if (post === undefined) throw new ChannelError("auth", "no such post");
  let state: "starting" | "ready" | "stopped" = "starting";
  let count = 0;
  let trouble = false;

  async function take(delivery: Delivery): Promise<boolean> {
    if (state !== "ready" && !faults.listensAfterStop) return false;
    count += 1;
    const kind = delivery.from === "person" ? "direct" : "group";
    const event: InboundEvent = {
      type: "message",
      channel: "postbox",
      account: context.account,
      eventId: faults.newEventIds ? `event ${count}` : delivery.eventId,
      messageId: delivery.messageId,
      conversation: { id: kind, kind },
      address: `postbox:${kind}`,
      sender: {
        id: delivery.from,
        isBot: delivery.from !== "person" && !faults.hidesBots,
        isSelf: delivery.from === "self",
      },
      addressed: kind === "direct" ? "dm" : "none",
      text: delivery.text,
      media: [],
      mentions: [],
      timestamp: context.clock.now(),
    };
    const emitted = context.emit(event);
    if (faults.acknowledgesEarly) {
      emitted.catch(() => {});
      return true;
    }
    return emitted.then(
      (result) => result !== "rejected",
      () => false,
    );
  }

  async function attach(
    part: Extract<OutboundPart, { type: "media" }>,
    key: string,
    openMedia: SendOptions["openMedia"],
  ) {
    const takes = faults.takesAnyFile
      ? { ...definition.capabilities.sendMedia, file: { maxBytes: 1e9 } }
      : definition.capabilities.sendMedia;
    const content = await readMedia(part, takes ?? {}, openMedia);
    const messageId = faults.sendsFilesTwice ? `${key}.${post?.files.size}` : key;
    const kept = faults.cutsFiles ? content.subarray(1) : content;
    post?.files.set(messageId, { messageId, kind: part.kind, name: part.name, content: kept });
    return messageId;
  }

  function put(part: OutboundPart, key: string): void {
    if (post === undefined || part.type === "media") return;
    if (post.revoked) {
      trouble = true;
      const told = faults.tellsPassword ? context.config.password : "the password";
      throw new ChannelError("auth", `refused: ${told}`, { scope: "account" });
    }
    const failure = post.failure;
    post.failure = undefined;
    if (failure === "rate")
      throw new ChannelError("rate_limited", "slow", faults.forgetsRetry ? {} : { retryAfterMs: 500 });
    if (failure === "rate-until") throw new ChannelError("rate_limited", "slow", { retryAfterMs: 3000 });
    if (failure === "server") throw new ChannelError("transient", "broken");
    if ([...part.text].length > 50 && !faults.takesAnyLength) throw new ChannelError("too_large", "over 50");
    post.sent.set(faults.sendsTwice ? `${key} ${post.sent.size}` : key, part.text);
    if (failure === "lost-answer") throw new ChannelError("unknown_outcome", "no answer");
  }

  return {
    async start(signal: AbortSignal) {
      signal.throwIfAborted();
      if (state === "stopped") return;
      state = "ready";
      post.deliver = take;
      if (faults.leavesTimers) setTimeout(() => {}, 20_000);
    },
    async stop() {
      state = "stopped";
    },
    health: () => (trouble ? { state: "down" as const, reason: "refused" } : { state }),
    self: () => ({ id: "bot" }),
    async send(_to, { parts }, { idempotencyKey, startAt = 0, onPart, openMedia }) {
      const receipts = [];
      for (const [index, part] of parts.entries()) {
        if (index < startAt && !faults.ignoresStart) continue;
        const key = `${idempotencyKey}.${index}`;
        put(part, key);
        const messageId = part.type === "media" ? await attach(part, key, openMedia) : key;
        const receipt = { index, messageId };
        receipts.push(receipt);
        await onPart?.(receipt);
      }
      return { parts: receipts };
    },
  };
}

function createHarness(faults: Faults): ChannelHarness<{ id: string }> {
  let count = 0;
  return {
    addresses: [{ id: "a" }, { id: "ü/b" }],
    entry: { url: new URL("../src/index.ts", import.meta.url).href, sdk: ["zod"] },
    recorded: [],
    async open(): Promise<Platform<{ id: string }>> {
      count += 1;
      const name = `${JSON.stringify(faults)} ${count}`;
      const post: Post = {
        sent: new Map(),
        files: new Map(),
        deliver: undefined,
        failure: undefined,
        revoked: false,
      };
      posts.set(name, post);
      return {
        config: { post: name, password: "pa55word" },
        secrets: ["pa55word"],
        to: { id: "a" },
        sent: () => [...post.sent].map(([messageId, text]) => ({ messageId, text })),
        sentMedia: () => [...post.files.values()],
        deliver: async (_channel, delivery) => (await post.deliver?.(delivery)) ?? false,
        fail: (how) => {
          post.failure = how;
        },
        revoke: () => {
          post.revoked = true;
        },
        close: async () => void posts.delete(name),
      };
    },
  };
}
