import type { ChannelContext } from "@signalbox/channel";
import {
  openChannel,
  type RunningChannel,
  serveWebhook,
  type WebhookServer,
} from "@signalbox/channel/testkit";
import { type FakeFeishu, type FeishuOptions, startFeishu } from "@signalbox/testkit/feishu";
import { type FeishuAddress, type FeishuConfig, feishu } from "../src/index.ts";

export const credentials = { appId: "cli_0123456789abcdef", appSecret: "secret-of-the-app" };

/** A channel against a fake server. */
export interface Bench extends RunningChannel<FeishuAddress> {
  readonly fakeServer: FakeFeishu;
  /** Posts an event to the channel as Feishu would, and gives its answer. */
  post(event: unknown, options?: Parameters<FakeFeishu["postEvent"]>[2]): Promise<Response>;
}

export async function openBench(
  config: Partial<FeishuConfig> = { verificationToken: "token-of-the-app" },
  options: Partial<FeishuOptions> & {
    readonly context?: Partial<ChannelContext<FeishuConfig>>;
    /** Default true. */
    readonly start?: boolean;
  } = {},
): Promise<Bench> {
  const fakeServer = await startFeishu({
    ...credentials,
    bot: { openId: "ou_bot", name: "Signalbox" },
    users: { ou_sender: { name: "张三" } },
    verificationToken: config.verificationToken,
    encryptKey: config.encryptKey,
    ...options,
  });
  const settings = { ...credentials, baseUrl: fakeServer.url, ...config };
  let gateway: WebhookServer | undefined;
  const { context = {}, start = true } = options;
  const running = await openChannel(feishu, settings, {
    context,
    start,
    close: async () => {
      await gateway?.stop();
      await fakeServer.stop();
    },
  });
  gateway = await serveWebhook(running.channel);
  const { url } = gateway;
  const post: Bench["post"] = (event, how) => fakeServer.postEvent(url, event, how);
  return Object.assign(running, { fakeServer, post });
}

export { type AdjustableClock, createAdjustableClock, never } from "@signalbox/channel/testkit";
