import { reasonOf } from "@signalbox/agent-core";
import { getSpeakerTokenName } from "@signalbox/routing";

/** Poll interval in milliseconds. The command line revokes tokens by writing to the store. */
const POLL_MS = 5_000;

export interface RevokedTokensPorts {
  /** Returns the tokens that exist. */
  readonly tokens: () => Promise<readonly { readonly name: string }[]>;
  /** Returns true if the gateway itself authenticates a channel's senders. */
  readonly isAuthenticated: (channel: string) => boolean;
  /** Ends everything that belongs to matching speakers: runs, waiting messages and background commands. */
  readonly end: (isRevoked: (speaker: string) => boolean) => Promise<void>;
  readonly logger: { warn(details: object, message: string): void };
}

/**
 * Ends everything that belongs to a token's holder when the token is revoked.
 *
 * @returns a function that stops the watch
 */
export function watchRevokedTokens({ tokens, isAuthenticated, end, logger }: RevokedTokensPorts): () => void {
  const look = async (): Promise<void> => {
    const names = new Set((await tokens()).map(({ name }) => name));
    await end((speaker) => {
      const name = getSpeakerTokenName(speaker, isAuthenticated);
      return name !== undefined && !names.has(name);
    });
  };
  const timer = setInterval(() => {
    look().catch((error: unknown) =>
      logger.warn({ err: reasonOf(error) }, "could not check for revoked tokens"),
    );
  }, POLL_MS).unref();
  return () => clearInterval(timer);
}
