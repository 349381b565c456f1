import Anthropic from "@anthropic-ai/sdk";
import { freePort } from "@signalbox/testkit";
import { type FakeFeishu, startFeishu } from "@signalbox/testkit/feishu";
import { makeHome, removeHome } from "./gateway-process.ts";
import { startModel, type ZeroLatencyModel } from "./model.ts";
import { now } from "./report.ts";

const APP = { appId: "cli_bench", appSecret: "bench-app-secret" };

/** Everything around the gateway, in this process. */
export interface Setup {
  readonly home: string;
  readonly port: number;
  readonly verificationToken: string;
  readonly model: ZeroLatencyModel;
  readonly feishu: FakeFeishu;
  /** One call of the vendor's SDK on its own, read to its end: the floor of a message. */
  rawTurn(): Promise<{ readonly calledAt: number; readonly seenAt: number }>;
  stop(): Promise<void>;
}

/** A configuration with an account on each of these channels, and further sections. */
export function configFor(
  { port, model }: Pick<Setup, "port" | "model">,
  accounts: Readonly<Record<string, unknown>>,
  more: Readonly<Record<string, unknown>> = {},
): string {
  const channels = Object.entries(accounts).map(([name, main]) => [name, { accounts: { main } }]);
  // JSON is YAML.
  return JSON.stringify({
    gateway: { port, logLevel: "warn" },
    models: {
      providers: {
        anthropic: { api: "anthropic-messages", apiKey: "bench-key-0123456789", baseUrl: model.url },
      },
    },
    agents: { list: [{ id: "main", model: "anthropic/claude-sonnet-4-6" }] },
    channels: Object.fromEntries(channels),
    access: { dm: "open" },
    ...more,
  });
}

export function feishuAccount({ feishu, verificationToken }: Pick<Setup, "feishu" | "verificationToken">) {
  return { ...APP, verificationToken, baseUrl: feishu.url };
}

export async function setUp(): Promise<Setup> {
  const verificationToken = "bench-verification-token";
  const model = await startModel();
  const feishu = await startFeishu({ ...APP, verificationToken, users: {} });
  const port = await freePort();
  const around = { port, model, feishu, verificationToken };
  const home = makeHome(configFor(around, { feishu: feishuAccount(around) }));
  const client = new Anthropic({ apiKey: "bench-key-0123456789", baseURL: model.url });
  return {
    home,
    port,
    verificationToken,
    model,
    feishu,
    async rawTurn() {
      const calledAt = now();
      const before = model.turns.length;
      const stream = await client.messages.create({
        model: "claude-sonnet-4-6",
        max_tokens: 1024,
        stream: true,
        messages: [{ role: "user", content: "hello" }],
      });
      for await (const _ of stream) {
        // Reading it is all there is to do.
      }
      return { calledAt, seenAt: model.turns[before]?.seenAt ?? Number.NaN };
    },
    async stop() {
      await Promise.all([model.stop(), feishu.stop()]);
      removeHome(home);
    },
  };
}
