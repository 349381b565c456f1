import { type ChannelContext, type Clock, systemClock } from "@signalbox/channel";
import { openChannel, type RunningChannel } from "@signalbox/channel/testkit";
import { type FakeWecom, startWecom, type WecomOptions } from "@signalbox/testkit/wecom";
import { type WecomAddress, type WecomConfig, wecom } from "../src/index.ts";
import { limits } from "../src/limits.ts";

export const botId = "aib-bot-0123";
export const secret = "secret-of-the-long-connection";
export const callbacks = {
  token: "token-of-the-callback",
  encodingAesKey: "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG",
};

/** The module that a separate process loads. */
export const BUILT = new URL("../dist/index.js", import.meta.url).href;

/** A running channel and its fake server. */
export interface Bench extends RunningChannel<WecomAddress> {
  readonly fakeServer: FakeWecom;
}

export interface BenchOptions {
  readonly fakeServer?: Partial<WecomOptions>;
  readonly context?: Partial<ChannelContext<WecomConfig>>;
  /** Default: true. */
  readonly start?: boolean;
}

export function startServer(options: Partial<WecomOptions> = {}): Promise<FakeWecom> {
  return startWecom({ botId, secret, callbacks, chats: ["zhangsan"], ...options });
}

/** Returns the settings of an account that uses a fake server. */
export function settingsFor(fakeServer: FakeWecom): Partial<WecomConfig> {
  return { botId, secret, wsUrl: fakeServer.wsUrl, apiBaseUrl: fakeServer.url };
}

export async function openBench(
  config: Partial<WecomConfig> = {},
  { context = {}, start = true, ...options }: BenchOptions = {},
): Promise<Bench> {
  const fakeServer = await startServer(options.fakeServer);
  const running = await openChannel(
    impatient,
    { ...settingsFor(fakeServer), ...config },
    {
      context,
      start,
      close: () => fakeServer.stop(),
    },
  );
  return Object.assign(running, { fakeServer });
}

/** The machine's clock, which a test can set forward. Waits take their usual time. */
export function createShiftedClock(): Clock & { advance(ms: number): void } {
  let shift = 0;
  return {
    now: () => Date.now() + shift,
    delay: impatientClock.delay,
    advance: (ms) => {
      shift += ms;
    },
  };
}

/** Time limit for acknowledgments in tests that lose them, in milliseconds. */
const SHORT_ACK_MS = 1_500;

/** The machine's clock, but with a shorter time limit for acknowledgments. */
const impatientClock: Clock = {
  now: Date.now,
  delay: (ms, signal) => systemClock.delay(ms === limits.ackMs ? SHORT_ACK_MS : ms, signal),
};

/** The channel with a shorter time limit for acknowledgments. */
export const impatient: typeof wecom = {
  ...wecom,
  create: (context) => {
    const { clock } = context;
    return wecom.create({ ...context, clock: clock === systemClock ? impatientClock : clock });
  },
};

export { never } from "@signalbox/channel/testkit";
