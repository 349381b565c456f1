import {
  type Capabilities,
  type Channel,
  type ChannelDefinition,
  ChannelError,
  type InboundEvent,
  isChannelError,
  type PartReceipt,
} from "@signalbox/channel";

/** How the platforms of this channel let a doubtful send be repeated: by a key, by looking it up, or not at all. */
const DELIVERY = {
  keyed: { idempotencyKey: { windowMs: 3_600_000 } },
  looked: { readback: true },
  blunt: {},
} as const satisfies Readonly<Record<string, Capabilities["delivery"]>>;

export type RelayName = keyof typeof DELIVERY;

/** Longest text of one message; short, so that answers take several. */
const TEXT_MAX = 200;

/** What the account is configured with. */
export interface RelayConfig {
  /** The fake server. */
  readonly url: string;
  readonly token: string;
}

function nameIn(url: string): RelayName {
  const found = new URL(url).searchParams.get("as");
  return found === "looked" || found === "blunt" ? found : "keyed";
}

function definitionOf(name: RelayName): ChannelDefinition<RelayConfig, string> {
  return {
    specVersion: 1,
    id: name,
    meta: { label: name, fields: { token: { label: "Token", secret: true } } },
    config: schema,
    capabilities: {
      text: { max: TEXT_MAX, unit: "utf16", markup: "plain" },
      stream: "none",
      threads: "reply",
      delivery: DELIVERY[name],
      rate: [],
      transports: ["webhook"],
    },
    codec: { encode: (chat) => `${name}:${chat}`, decode: (text) => text.slice(name.length + 1) },
    async create({ config, emit, fetch, logger }): Promise<Channel<string>> {
      const ask = async (path: string, body: object, signal: AbortSignal): Promise<Response> => {
        const headers = { authorization: `Bearer ${config.token}`, "content-type": "application/json" };
        const request = { method: "POST", headers, body: JSON.stringify(body), signal };
        try {
          return await fetch(`${config.url}/${name}/${path}`, request);
        } catch (cause) {
          throw new ChannelError("unknown_outcome", "no answer", { cause });
        }
      };
      return {
        async start() {
          logger.warn(`goes on with ${config.token}`, {
            headers: { authorization: `Bearer ${config.token}` },
          });
        },
        stop: async () => {},
        health: () => ({ state: "ready" }),
        self: () => ({ id: "bot" }),
        async webhook(request) {
          if (request.headers.get("authorization") !== `Bearer ${config.token}`)
            return new Response(null, { status: 401 });
          const event = (await request.json()) as InboundEvent;
          const taken = await emit(event);
          return new Response(null, { status: taken === "rejected" ? 503 : 200 });
        },
        async send(to, { parts, replyTo }, { idempotencyKey, startAt = 0, signal, onPart }) {
          const done: PartReceipt[] = [];
          for (const [index, part] of parts.entries()) {
            if (index < startAt) continue;
            if (part.type !== "text") throw new ChannelError("unsupported", part.type);
            const answers = index === 0 && replyTo !== undefined ? { replyTo } : {};
            const said = { chat: to, key: `${idempotencyKey}.${index}`, text: part.text, ...answers };
            try {
              const messageId = await receiptOf(await ask("send", said, signal));
              done.push({ index, messageId });
              await onPart?.({ index, messageId });
            } catch (error) {
              if (!isChannelError(error) || done.length === 0) throw error;
              const { code, message, retryAfterMs } = error;
              const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
              throw new ChannelError(code, message, { ...wait, receipt: { parts: done }, cause: error });
            }
          }
          return { parts: done };
        },
        ...(name === "looked"
          ? {
              async reconcile({ to, idempotencyKey, part }, signal) {
                const key = `${idempotencyKey}.${part}`;
                const response = await ask("find", { chat: to, key }, signal).catch(() => undefined);
                if (response?.status === 404) return { outcome: "not_sent" };
                return response?.status === 200
                  ? { outcome: "sent", messageId: await response.text() }
                  : { outcome: "unknown" };
              },
            }
          : {}),
      };
    },
  };
}

async function receiptOf(response: Response): Promise<string> {
  const text = await response.text();
  switch (response.status) {
    case 200:
      return text;
    case 403:
      throw new ChannelError("permission", "refused");
    case 429:
      throw new ChannelError("rate_limited", "too fast", { retryAfterMs: Number(text) });
    case 503:
      throw new ChannelError("transient", "not now");
    default:
      throw new ChannelError("unknown_outcome", `HTTP ${response.status}`);
  }
}

const schema: ChannelDefinition<RelayConfig, string>["config"] = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate(value) {
      if (typeof value !== "object" || value === null) return { issues: [{ message: "no settings" }] };
      const { url, token } = value as Partial<RelayConfig>;
      return url === undefined || token === undefined
        ? { issues: [{ message: "url and token are needed" }] }
        : { value: { url, token } };
    },
  },
};

/**
 * The module as the configuration names it: one channel for each platform. It hands events over as they came, with
 * edits and deletions, and says its token to the log, as careless code does.
 */
export default definitionOf(nameIn(import.meta.url));
