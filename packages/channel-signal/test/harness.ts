import type { ChannelContext } from "@signalbox/channel";
import { openChannel, type RunningChannel } from "@signalbox/channel/testkit";
import { type FakeSignal, type SignalOptions, signalPerson, startSignal } from "@signalbox/testkit/signal";
import { type SignalAddress, type SignalConfig, signal } from "../src/index.ts";

export const account = "+4915199999999";
export const group = "Pmpi+EfPWmsxiomLe9Nx2XF9HOE483p6iKiFj65iMwI=";
export const to: SignalAddress = { person: signalPerson.uuid };

/** The module that a separate process loads. */
export const BUILT = new URL("../dist/index.js", import.meta.url).href;

/** A running channel and its fake daemon. */
export interface Bench extends RunningChannel<SignalAddress> {
  readonly fakeServer: FakeSignal;
}

interface BenchOptions extends Partial<SignalOptions> {
  readonly context?: Partial<ChannelContext<SignalConfig>>;
  /** Reuses a running fake daemon. */
  readonly fakeServer?: FakeSignal;
  readonly start?: boolean;
}

export function startFakeSignal(options: Partial<SignalOptions> = {}): Promise<FakeSignal> {
  return startSignal({ account, people: [signalPerson], groups: [group], ...options });
}

export async function openBench({ context, start, ...options }: BenchOptions = {}): Promise<Bench> {
  const fakeServer = options.fakeServer ?? (await startFakeSignal(options));
  const running = await openChannel(
    signal,
    { account, baseUrl: fakeServer.url },
    {
      context: context ?? {},
      start: start ?? true,
      close: async () => {
        if (options.fakeServer === undefined) await fakeServer.stop();
      },
    },
  );
  return Object.assign(running, { fakeServer });
}

export { never } from "@signalbox/channel/testkit";
