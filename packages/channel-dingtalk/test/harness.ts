import type { ChannelContext } from "@signalbox/channel";
import { openChannel, type RunningChannel } from "@signalbox/channel/testkit";
import { type DingTalkOptions, type FakeDingTalk, startDingTalk } from "@signalbox/testkit/dingtalk";
import { type DingTalkAddress, type DingTalkConfig, dingtalk } from "../src/index.ts";

export const credentials = { clientId: "dingbot", clientSecret: "secret-of-the-app-0123456789" };

/** The module that a separate process loads. */
export const BUILT = new URL("../dist/index.js", import.meta.url).href;

/** A running channel and its fake server. */
export interface Bench extends RunningChannel<DingTalkAddress> {
  readonly fakeServer: FakeDingTalk;
}

export async function openBench(
  options: Partial<DingTalkOptions> & {
    readonly context?: Partial<ChannelContext<DingTalkConfig>>;
    readonly config?: Partial<DingTalkConfig>;
    readonly start?: boolean;
    /** Reuses a running fake server. */
    readonly fakeServer?: FakeDingTalk;
  } = {},
): Promise<Bench> {
  const { context = {}, config, start = true, fakeServer: earlier, ...server } = options;
  const fakeServer = earlier ?? (await startDingTalk({ ...credentials, ...server }));
  const settings = { ...credentials, apiBaseUrl: fakeServer.url, ...config };
  const running = await openChannel(dingtalk, settings, {
    context,
    start,
    close: async () => {
      if (earlier === undefined) await fakeServer.stop();
    },
  });
  return Object.assign(running, { fakeServer });
}

export { createAdjustableClock, expectChannelError, never } from "@signalbox/channel/testkit";
