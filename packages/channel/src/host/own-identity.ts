import type { Clock, Identity } from "../contract/definition.ts";
import { ChannelError, isChannelError } from "../contract/errors.ts";
import { rejectOnAbort } from "./reject-on-abort.ts";

/** Milliseconds for which the error of a failed request is thrown again. */
const RETRY_MS = 3_000;

/** The bot's identity, requested from the platform once. */
export interface OwnIdentity<Self extends Identity> {
  /** Returns the bot if it has already been requested. */
  known(): Self | undefined;
  /**
   * Returns the bot's identity, and requests it if it is unknown. Concurrent callers share one request, which continues
   * if one of their signals fires.
   *
   * @throws ChannelError
   */
  get(signal: AbortSignal): Promise<Self>;
}

/**
 * @param platform the platform's name, for errors
 * @param request requests the identity from the platform. Throws ChannelError.
 * @param timeoutMs time limit of a request
 */
export function createOwnIdentity<Self extends Identity>({
  platform,
  clock,
  timeoutMs,
  request,
}: {
  readonly platform: string;
  readonly clock: Pick<Clock, "now">;
  readonly timeoutMs: number;
  request(signal: AbortSignal): Promise<Self>;
}): OwnIdentity<Self> {
  let self: Self | undefined;
  let pending: Promise<Self> | undefined;
  let failed: { readonly error: ChannelError; readonly until: number } | undefined;

  async function load(): Promise<Self> {
    try {
      self = await request(AbortSignal.timeout(timeoutMs));
      return self;
    } catch (error) {
      if (isChannelError(error)) failed = { error, until: clock.now() + RETRY_MS };
      throw error;
    } finally {
      pending = undefined;
    }
  }

  return {
    known: () => self,
    async get(signal) {
      if (self !== undefined) return self;
      if (failed !== undefined && clock.now() < failed.until) throw failed.error;
      pending ??= load();
      return rejectOnAbort(
        pending,
        signal,
        () => new ChannelError("transient", `${platform}: the request for the bot's identity timed out`),
      );
    },
  };
}
