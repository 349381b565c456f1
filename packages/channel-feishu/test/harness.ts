import {
  type ChannelContext,
  type ChannelLogger,
  createMemoryCache,
  createMemoryState,
  type EmitResult,
  type InboundEvent,
  systemClock,
} from "@signalbox/channel";
import { type FeishuOptions, type FeishuStandIn, startFeishu } from "@signalbox/testkit/feishu";
import { type FeishuConfig, feishu } from "../src/index.ts";

export const credentials = { appId: "cli_0123456789abcdef", appSecret: "secret-of-the-app" };

type Running = Awaited<ReturnType<typeof feishu.create>>;

/** A channel against a stand-in, with what it emitted. */
export interface Bench extends AsyncDisposable {
  readonly standIn: FeishuStandIn;
  readonly channel: Running;
  readonly events: InboundEvent[];
  readonly logged: string[];
  /** What `emit` answers; by default it remembers event ids as the gateway does. */
  answer: ((event: InboundEvent) => Promise<EmitResult>) | undefined;
  /** Posts an event to the channel as Feishu would, and gives its answer. */
  post(event: unknown, options?: Parameters<FeishuStandIn["postEvent"]>[2]): Promise<Response>;
}

export async function openBench(
  config: Partial<FeishuConfig> = { verificationToken: "token-of-the-app" },
  options: Partial<FeishuOptions> & {
    readonly context?: Partial<ChannelContext<FeishuConfig>>;
    /** Default true. */
    readonly start?: boolean;
  } = {},
): Promise<Bench> {
  const standIn = await startFeishu({
    ...credentials,
    bot: { openId: "ou_bot", name: "Signalbox" },
    users: { ou_sender: { name: "张三" } },
    ...(config.verificationToken === undefined ? {} : { verificationToken: config.verificationToken }),
    ...(config.encryptKey === undefined ? {} : { encryptKey: config.encryptKey }),
    ...options,
  });
  const checked = await feishu.config["~standard"].validate({
    ...credentials,
    baseUrl: standIn.url,
    ...config,
  });
  if (checked.issues !== undefined) throw new Error(checked.issues.map((issue) => issue.message).join("\n"));
  const events: InboundEvent[] = [];
  const logged: string[] = [];
  const seen = new Set<string>();
  const log = (message: string, fields?: unknown) =>
    void logged.push(`${message} ${JSON.stringify(fields ?? {})}`);
  const logger: ChannelLogger = { debug: log, info: log, warn: log, error: log };
  const lifetime = new AbortController();
  const context: ChannelContext<FeishuConfig> = {
    config: checked.value,
    account: "main",
    logger,
    fetch: globalThis.fetch,
    clock: systemClock,
    cache: createMemoryCache({ clock: systemClock }),
    state: createMemoryState(),
    signal: lifetime.signal,
    async emit(event) {
      if (bench.answer !== undefined) return bench.answer(event);
      if (seen.has(event.eventId)) return "duplicate";
      seen.add(event.eventId);
      events.push(event);
      return "accepted";
    },
    ...options.context,
  };
  const channel = await feishu.create(context);
  if (options.start !== false) await channel.start(lifetime.signal);
  const gateway = serve(channel);
  const bench: Bench = {
    standIn,
    channel,
    events,
    logged,
    answer: undefined,
    post: async (event, push) => standIn.postEvent((await gateway).url, event, push),
    async [Symbol.asyncDispose]() {
      lifetime.abort();
      await channel.stop({ drainMs: 0 });
      await (await gateway).stop();
      await standIn.stop();
    },
  };
  return bench;
}

/** A real HTTP server in front of the channel's webhook. */
async function serve(channel: Running): Promise<{ url: string; stop(): Promise<void> }> {
  const { createServer } = await import("node:http");
  const server = createServer((raw, response) => {
    const chunks: Buffer[] = [];
    raw.on("data", (chunk: Buffer) => chunks.push(chunk));
    raw.on("end", async () => {
      const headers = Object.entries(raw.headers).map(([name, value]): [string, string] => [
        name,
        String(value),
      ]);
      const method = raw.method ?? "POST";
      const body = method === "GET" || method === "HEAD" ? {} : { body: Buffer.concat(chunks) };
      const answer = await channel.webhook?.(
        new Request("http://gateway/events", { method, headers, ...body }),
      );
      response.writeHead(answer?.status ?? 404, Object.fromEntries(answer?.headers ?? []));
      response.end(Buffer.from((await answer?.arrayBuffer()) ?? new ArrayBuffer(0)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export const never: AbortSignal = new AbortController().signal;
