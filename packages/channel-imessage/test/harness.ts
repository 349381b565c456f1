import type { ChannelContext } from "@signalbox/channel";
import { openChannel, type RunningChannel } from "@signalbox/channel/testkit";
import {
  type FakeBlueBubbles,
  type FakeImsg,
  type ImsgOptions,
  startBlueBubbles,
  startImsg,
} from "@signalbox/testkit/imessage";
import { type IMessageAddress, type IMessageConfig, imessage } from "../src/index.ts";

export const person = "+4915100000001";
export const group = "chat100200300";
export const password = "password-of-the-server-0123";
export const to: IMessageAddress = { person };

/** The module that a separate process loads. */
export const BUILT = new URL("../dist/index.js", import.meta.url).href;

type Context = Partial<ChannelContext<IMessageConfig>>;

interface Bench<Fake> extends RunningChannel<IMessageAddress> {
  readonly fakeServer: Fake;
}

export function startFakeImsg(options: ImsgOptions = {}): Promise<FakeImsg> {
  return startImsg({ people: [person], groups: [group], ...options });
}

export async function openImsg(
  options: ImsgOptions & { readonly context?: Context; readonly fakeServer?: FakeImsg } = {},
): Promise<Bench<FakeImsg>> {
  const fakeServer = options.fakeServer ?? (await startFakeImsg(options));
  const running = await openChannel(
    imessage,
    { command: fakeServer.command },
    {
      context: options.context ?? {},
      close: async () => {
        if (options.fakeServer === undefined) await fakeServer.stop();
      },
    },
  );
  return Object.assign(running, { fakeServer });
}

export function startFakeBlueBubbles(
  options: { readonly privateApi?: boolean } = {},
): Promise<FakeBlueBubbles> {
  return startBlueBubbles({ password, people: [person], groups: [group], ...options });
}

export async function openBlueBubbles(
  options: {
    readonly context?: Context;
    readonly privateApi?: boolean;
    /** Reuses a running fake server. */
    readonly fakeServer?: FakeBlueBubbles;
  } = {},
): Promise<Bench<FakeBlueBubbles>> {
  const { fakeServer: earlier, context = {}, ...server } = options;
  const fakeServer = earlier ?? (await startFakeBlueBubbles(server));
  const running = await openChannel(
    imessage,
    { baseUrl: fakeServer.url, password },
    {
      context,
      close: async () => {
        if (earlier === undefined) await fakeServer.stop();
      },
    },
  );
  return Object.assign(running, { fakeServer });
}

export { never } from "@signalbox/channel/testkit";
