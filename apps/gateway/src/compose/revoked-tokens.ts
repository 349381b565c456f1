import { reasonOf } from "@signalbox/agent-core";
import { speakerOf } from "@signalbox/channel";
import type { Lanes } from "@signalbox/lanes";
import { tokenOfSpeaker } from "@signalbox/routing";
import { eventsOf, type Queued } from "../path/4-queue/message.ts";
import type { Parts } from "./surroundings.ts";

/** How often it is looked whether a token was revoked: the command line writes that into the store, and no more. */
const LOOK_MS = 5_000;

/**
 * Ends what goes on for whoever held a token that was revoked: runs, what waits for one, commands in the background.
 * @returns what ends the watch
 */
export function watchRevokedTokens(
  { opened: { store }, surroundings: { toolbox }, options: { logger } }: Parts,
  lanes: Pick<Lanes<Queued>, "stopWhere">,
): () => void {
  const look = async (): Promise<void> => {
    const names = new Set((await store.access.tokens.list()).map(({ name }) => name));
    const isRevoked = (speaker: string): boolean => {
      const name = tokenOfSpeaker(speaker);
      return name !== undefined && !names.has(name);
    };
    lanes.stopWhere(
      (item) => eventsOf(item).some((event) => isRevoked(speakerOf(event))),
      new Error("the token that it was asked with was revoked"),
    );
    await toolbox.endCommandsOf(isRevoked);
  };
  const timer = setInterval(() => {
    look().catch((error: unknown) =>
      logger.warn({ err: reasonOf(error) }, "nobody could look for tokens that were revoked"),
    );
  }, LOOK_MS).unref();
  return () => clearInterval(timer);
}
