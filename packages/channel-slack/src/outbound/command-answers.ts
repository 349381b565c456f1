import { type ChannelContext, deadline, isPayload, type OutboundPart, textAt } from "@signalbox/channel";
import { limits } from "../limits.ts";
import type { People } from "../people.ts";
import { renderWithoutBlocks } from "./render.ts";

/**
 * Answers to slash commands where the bot may not write: people use them in conversations that it is not in. Slack
 * shows such an answer to whoever used the command, and to nobody else.
 */
export interface CommandAnswers {
  /** Remembers where Slack takes answers to a command. */
  keep(command: string, responseUrl: string): Promise<void>;
  /** Whether Slack took it. Never throws: the command is as good as unanswered then. */
  answer(command: string, part: OutboundPart, signal: AbortSignal): Promise<boolean>;
}

export function createCommandAnswers(
  { cache, fetch }: Pick<ChannelContext, "cache" | "fetch">,
  people: Pick<People, "known">,
): CommandAnswers {
  const keyOf = (command: string): string => `slack/${people.known()?.id ?? ""}/command/${command}`;

  async function post(url: string, part: OutboundPart, signal: AbortSignal): Promise<boolean> {
    const { text } = renderWithoutBlocks(part);
    const body = JSON.stringify({ response_type: "ephemeral", text });
    const headers = { "content-type": "application/json; charset=utf-8" };
    const response = await fetch(url, { method: "POST", headers, body, redirect: "error", signal });
    await response.body?.cancel();
    return response.ok;
  }

  return {
    keep: (command, url) => cache.set(keyOf(command), { url }, limits.commandMs),
    async answer(command, part, signal) {
      const kept = await cache.get(keyOf(command));
      const url = isPayload(kept) ? textAt(kept, "url") : undefined;
      if (url === undefined) return false;
      const limit = deadline(limits.requestTimeoutMs, signal);
      return post(url, part, limit.signal)
        .catch(() => false)
        .finally(limit.end);
    },
  };
}
