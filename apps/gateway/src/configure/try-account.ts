import {
  type ChannelDefinition,
  type ChannelLogger,
  createInMemoryCache,
  createInMemoryState,
  type Identity,
  systemClock,
} from "@signalbox/channel";

/** Time limit for the test of an account, in milliseconds. */
const TRY_MS = 20_000;

/** An account whose settings its channel has validated. */
interface AccountToTry {
  readonly definition: ChannelDefinition;
  readonly account: string;
  readonly config: unknown;
}

/**
 * Tests the credentials of an account with its platform, without storing anything. Messages that arrive during the test
 * are rejected, and the platform delivers them again.
 *
 * @returns the bot's identity, if the platform reports one
 * @throws if the platform refuses the account or does not respond within 20 s
 */
export async function tryAccount({
  definition,
  account,
  config,
}: AccountToTry): Promise<Identity | undefined> {
  const quiet = (): void => {};
  const logger: ChannelLogger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
  const ending = new AbortController();
  const signal = AbortSignal.any([ending.signal, AbortSignal.timeout(TRY_MS)]);
  try {
    const channel = await definition.create({
      config,
      account,
      logger,
      signal,
      fetch: globalThis.fetch,
      clock: systemClock,
      cache: createInMemoryCache({ clock: systemClock }),
      state: createInMemoryState(),
      emit: async () => "rejected",
    });
    await channel.start(signal);
    try {
      return (await channel.identify?.(signal)) ?? channel.self();
    } finally {
      await channel.stop({ drainMs: 0 });
    }
  } finally {
    ending.abort();
  }
}
