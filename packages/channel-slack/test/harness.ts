import type { ChannelContext } from "@signalbox/channel";
import {
  openChannel,
  type RunningChannel,
  serveWebhook,
  type WebhookServer,
} from "@signalbox/channel/testkit";
import { type FakeSlack, type SlackOptions, startSlack } from "@signalbox/testkit/slack";
import { type SlackAddress, type SlackConfig, slack } from "../src/index.ts";

export const credentials = {
  botToken: "xoxb-token-of-the-bot",
  appToken: "xapp-token-of-the-app",
  signingSecret: "secret-of-the-app",
};

/** A running channel and its fake server. */
export interface Bench extends RunningChannel<SlackAddress> {
  readonly fakeServer: FakeSlack;
  /** The webhook URL. */
  readonly url: string;
}

export interface BenchOptions {
  readonly fakeServer?: Partial<SlackOptions>;
  readonly context?: Partial<ChannelContext<SlackConfig>>;
  /** Default true. */
  readonly start?: boolean;
}

export async function openBench(
  config: Partial<SlackConfig> = { transport: "webhook" },
  options: BenchOptions = {},
): Promise<Bench> {
  const fakeServer = await startSlack({
    ...credentials,
    users: { U_ANN: { name: "Ann" } },
    ...options.fakeServer,
  });
  const settings = { ...credentials, baseUrl: fakeServer.apiUrl, ...config };
  let gateway: WebhookServer | undefined;
  const { context = {}, start = true } = options;
  const running = await openChannel(slack, settings, {
    context,
    start,
    close: async () => {
      await gateway?.stop();
      await fakeServer.stop();
    },
  });
  gateway = await serveWebhook(running.channel);
  return Object.assign(running, { fakeServer, url: gateway.url });
}

export { createAdjustableClock, never } from "@signalbox/channel/testkit";
