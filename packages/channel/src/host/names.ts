import type { ChannelCache, ChannelLogger } from "../contract/definition.ts";
import { isChannelError, isLasting, reasonOf } from "../contract/errors.ts";
import { isPayload, textAt } from "../inbound/payload.ts";

const dayMs = 24 * 3_600_000;
/** How long a name that could not be found out is not asked for again: refused, and unreachable. */
const refusedMs = 10 * 60_000;
const unreachableMs = 30_000;

export interface NamesOptions {
  readonly cache: ChannelCache;
  /** Under which the names are kept; the bot's own id belongs into it. */
  readonly prefix: string;
  /** Asks the platform; undefined where it has none. @throws ChannelError */
  ask(userId: string, signal: AbortSignal): Promise<string | undefined>;
  readonly logger: ChannelLogger;
}

/** A person's name, asked for once a day, and once by all who ask at the same time. Never throws. */
export type NameOf = (userId: string, signal: AbortSignal) => Promise<{ readonly name: string } | undefined>;

/** The `resolve` of a channel. */
export function createNames({ cache, prefix, ask, logger }: NamesOptions): NameOf {
  const asking = new Map<string, { readonly person: ReturnType<NameOf>; readonly signal: AbortSignal }>();

  /** Without the cache a name is asked for again, and no worse. */
  function uncached(error: unknown): void {
    logger.debug("names are not cached", { reason: reasonOf(error) });
  }

  async function lookUp(userId: string, signal: AbortSignal): ReturnType<NameOf> {
    const key = `${prefix}/${userId}`;
    const cached = await cache.get(key).catch(uncached);
    if (isPayload(cached)) {
      const name = textAt(cached, "name");
      return name === undefined ? undefined : { name };
    }
    try {
      const name = await ask(userId, signal);
      await cache.set(key, name ? { name } : {}, name ? dayMs : refusedMs).catch(uncached);
      return name ? { name } : undefined;
    } catch (error) {
      const code = isChannelError(error) ? error.code : "transient";
      if (!signal.aborted)
        await cache.set(key, {}, isLasting(error) ? refusedMs : unreachableMs).catch(uncached);
      logger.debug("a name could not be looked up", { userId, code });
      return undefined;
    }
  }

  const nameOf: NameOf = async (userId, signal) => {
    const running = asking.get(userId);
    if (running === undefined) {
      const person = lookUp(userId, signal).finally(() => asking.delete(userId));
      asking.set(userId, { person, signal });
      return person;
    }
    const person = await running.person;
    // Whoever asked first may have given up.
    const isLeft = person === undefined && running.signal.aborted && !signal.aborted;
    return isLeft ? nameOf(userId, signal) : person;
  };
  return nameOf;
}
