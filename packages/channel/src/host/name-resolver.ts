import type { ChannelCache, ChannelLogger } from "../contract/definition.ts";
import { isChannelError, isRetryable, reasonOf } from "../contract/errors.ts";
import { isPayload, textAt } from "../inbound/payload.ts";

const NAME_TTL_MS = 24 * 3_600_000;
/** Cache lifetime of a failure in milliseconds, after a refusal and after a connection error. */
const REFUSED_TTL_MS = 10 * 60_000;
const UNREACHABLE_TTL_MS = 30_000;

export interface NameResolverOptions {
  readonly cache: ChannelCache;
  /** The prefix of cache keys. It should contain the bot's id. */
  readonly prefix: string;
  /** Requests a name from the platform. Returns `undefined` if the person has no name. @throws ChannelError */
  request(userId: string, signal: AbortSignal): Promise<string | undefined>;
  readonly logger: ChannelLogger;
}

/** Returns a person's name. Names are cached for a day. Concurrent calls share one request. Never throws. */
export type NameResolver = (
  userId: string,
  signal: AbortSignal,
) => Promise<{ readonly name: string } | undefined>;

/** Creates the `resolve` method of a channel. */
export function createNameResolver({ cache, prefix, request, logger }: NameResolverOptions): NameResolver {
  const pending = new Map<
    string,
    { readonly person: ReturnType<NameResolver>; readonly signal: AbortSignal }
  >();

  /** A failing cache only causes additional requests. */
  function uncached(error: unknown): void {
    logger.debug("the cache of names failed", { reason: reasonOf(error) });
  }

  async function lookUp(userId: string, signal: AbortSignal): ReturnType<NameResolver> {
    const key = `${prefix}/${userId}`;
    const cached = await cache.get(key).catch(uncached);
    if (isPayload(cached)) {
      const name = textAt(cached, "name");
      return name === undefined ? undefined : { name };
    }
    try {
      const name = await request(userId, signal);
      await cache.set(key, name ? { name } : {}, name ? NAME_TTL_MS : REFUSED_TTL_MS).catch(uncached);
      return name ? { name } : undefined;
    } catch (error) {
      const code = isChannelError(error) ? error.code : "transient";
      if (!signal.aborted)
        await cache.set(key, {}, !isRetryable(error) ? REFUSED_TTL_MS : UNREACHABLE_TTL_MS).catch(uncached);
      logger.debug("failed to look up a name", { userId, code });
      return undefined;
    }
  }

  const resolve: NameResolver = async (userId, signal) => {
    const running = pending.get(userId);
    if (running === undefined) {
      const person = lookUp(userId, signal).finally(() => pending.delete(userId));
      pending.set(userId, { person, signal });
      return person;
    }
    const person = await running.person;
    // The signal of the first caller may have aborted the request.
    const isAborted = person === undefined && running.signal.aborted && !signal.aborted;
    return isAborted ? resolve(userId, signal) : person;
  };
  return resolve;
}
