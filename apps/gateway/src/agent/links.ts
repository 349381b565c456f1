import { reasonOf } from "@signalbox/agent-core";
import type { LinksConfig } from "@signalbox/config";
import type { ContextDocument } from "@signalbox/prompt";
import { type GuardedFetch, readLinkedPages } from "@signalbox/tools";

export interface ReadLinksPorts {
  /** Returns the configuration in effect. */
  readonly config: () => LinksConfig;
  readonly fetch: GuardedFetch;
  readonly logger: { info(fields: object, message: string): void };
}

/** Reads the pages that texts link to if the configuration enables this. Never rejects. */
export type ReadLinks = (
  texts: readonly string[],
  signal: AbortSignal,
) => Promise<readonly ContextDocument[]>;

export function createReadLinks({ config, fetch, logger }: ReadLinksPorts): ReadLinks {
  const onFailure = (error: unknown): void =>
    logger.info({ err: reasonOf(error) }, "a linked page could not be read");
  return async (texts, signal) => {
    const { mode, max, maxChars } = config();
    if (mode === "off") return [];
    return readLinkedPages(texts.join("\n"), { fetch, signal, max, maxChars, onFailure });
  };
}
