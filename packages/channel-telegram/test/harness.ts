import type { ChannelContext } from "@signalbox/channel";
import { openChannel, type RunningChannel } from "@signalbox/channel/testkit";
import { type FakeTelegram, startTelegram, type TelegramOptions } from "@signalbox/testkit/telegram";
import { type TelegramAddress, type TelegramConfig, telegram } from "../src/index.ts";

export const token = "42:secret-of-the-bot-0123456789";
export const webhookSecret = "secret-of-the-webhook";

/** The module that a separate process loads. */
export const BUILT = new URL("../dist/index.js", import.meta.url).href;

/** A running channel and its fake server. */
export interface Bench extends RunningChannel<TelegramAddress> {
  readonly fakeServer: FakeTelegram;
}

export async function openBench(
  config: Partial<TelegramConfig> = {},
  options: Partial<TelegramOptions> & {
    readonly context?: Partial<ChannelContext<TelegramConfig>>;
    /** Reuses a running fake server. */
    readonly fakeServer?: FakeTelegram;
    /** False leaves the account to another host, which has started it. Default: true. */
    readonly start?: boolean;
  } = {},
): Promise<Bench> {
  const fakeServer = options.fakeServer ?? (await startTelegram({ token, ...options }));
  const settings = { botToken: token, apiBaseUrl: fakeServer.url, ...config };
  const running = await openChannel(telegram, settings, {
    context: options.context ?? {},
    start: options.start ?? true,
    close: async () => {
      if (options.fakeServer === undefined) await fakeServer.stop();
    },
  });
  return Object.assign(running, { fakeServer });
}

export { never } from "@signalbox/channel/testkit";
