import { type ChannelContext, deadline, isPayload, type OutboundPart, textAt } from "@signalbox/channel";
import { limits } from "../limits.ts";
import type { People } from "../people.ts";
import { renderWithoutBlocks } from "./render.ts";

/**
 * Responds to slash commands in conversations in which the bot may not write. Slack shows such a response only to the
 * user of the command.
 */
export interface CommandResponses {
  /** Stores the response URL of a command. */
  keep(command: string, responseUrl: string): Promise<void>;
  /**
   * Sends a response.
   *
   * @returns true if Slack accepted it; never throws
   */
  answer(command: string, part: OutboundPart, signal: AbortSignal): Promise<boolean>;
}

export function createCommandResponses(
  { cache, fetch }: Pick<ChannelContext, "cache" | "fetch">,
  people: Pick<People, "known">,
): CommandResponses {
  const getResponseKey = (command: string): string => `slack/${people.known()?.id ?? ""}/command/${command}`;

  async function post(url: string, part: OutboundPart, signal: AbortSignal): Promise<boolean> {
    const { text } = renderWithoutBlocks(part);
    const body = JSON.stringify({ response_type: "ephemeral", text });
    const headers = { "content-type": "application/json; charset=utf-8" };
    const response = await fetch(url, { method: "POST", headers, body, redirect: "error", signal });
    await response.body?.cancel();
    return response.ok;
  }

  return {
    keep: (command, url) => cache.set(getResponseKey(command), { url }, limits.commandMs),
    async answer(command, part, signal) {
      const kept = await cache.get(getResponseKey(command));
      const url = isPayload(kept) ? textAt(kept, "url") : undefined;
      if (url === undefined) return false;
      const limit = deadline(limits.requestTimeoutMs, signal);
      return post(url, part, limit.signal)
        .catch(() => false)
        .finally(limit.end);
    },
  };
}
