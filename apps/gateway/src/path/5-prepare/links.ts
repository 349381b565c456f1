import { reasonOf } from "@signalbox/agent-core";
import type { LinksConfig } from "@signalbox/config";
import type { ContextDocument } from "@signalbox/prompt";
import type { Logger } from "@signalbox/telemetry/logger";
import { type GuardedFetch, readLinkedPages } from "@signalbox/tools";
import { type QueuedMessage, spokenText } from "../4-queue/message.ts";

/**
 * Reads the pages that messages link to, where the configuration asks for it; none of messages by guests, who may not
 * use the web either. Never rejects.
 */
export type ReadLinks = (
  messages: readonly QueuedMessage[],
  signal: AbortSignal,
) => Promise<readonly ContextDocument[]>;

export function createReadLinks(config: () => LinksConfig, fetch: GuardedFetch, logger: Logger): ReadLinks {
  const onFailure = (error: unknown): void =>
    logger.info({ err: reasonOf(error) }, "a linked page was not read");
  return async (messages, signal) => {
    const { mode, max, maxChars } = config();
    if (mode === "off") return [];
    const texts = messages.filter(({ stored }) => stored.role !== "guest").map(spokenText);
    return readLinkedPages(texts.join("\n"), { fetch, signal, max, maxChars, onFailure });
  };
}
