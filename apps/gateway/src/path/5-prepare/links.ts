import type { LinksConfig } from "@signalbox/config";
import type { ContextDocument } from "@signalbox/prompt";
import { FetchError, type GuardedFetch, linksIn, pageText } from "@signalbox/tools";
import { messageOf } from "../../errors.ts";
import type { Logger } from "../../log.ts";
import { type QueuedMessage, spokenText } from "../4-queue/message.ts";

export interface LinksOptions {
  readonly config: LinksConfig;
  readonly fetch: GuardedFetch;
  readonly logger: Logger;
}

/** Reads the pages that messages link to, where the configuration asks for it. */
export interface Links {
  /** Newest links last; none of messages by guests, who may not use the web either. Never rejects. */
  read(tickets: readonly QueuedMessage[], signal: AbortSignal): Promise<readonly ContextDocument[]>;
}

const PAGE_BYTES = 5_000_000;

export function createLinks({ config, fetch, logger }: LinksOptions): Links {
  const readOne = async (link: string, signal: AbortSignal): Promise<ContextDocument> => {
    try {
      const resource = await fetch(link, { signal, maxBytes: PAGE_BYTES });
      const { url, title, text, cut } = await pageText(resource, { maxChars: config.maxChars });
      return { place: url, text, cut, ...(title === undefined ? {} : { name: title }) };
    } catch (error) {
      if (!signal.aborted) logger.info({ err: messageOf(error) }, "a linked page was not read");
      const note = error instanceof FetchError ? error.message : "It could not be read.";
      return { place: link, note };
    }
  };
  return {
    async read(tickets, signal) {
      if (config.mode === "off") return [];
      const texts = tickets.filter(({ stored }) => stored.role !== "guest").map(spokenText);
      const links = linksIn(texts.join("\n"), config.max);
      return Promise.all(links.map((link) => readOne(link, signal)));
    },
  };
}
