import { isLasting, objectAt, type Payload, textAt } from "@signalbox/channel";
import type { DiscordApi } from "../api.ts";
import { listMessages } from "../history.ts";
import { limits } from "../limits.ts";
import type { People } from "../people.ts";
import type { Places } from "../places.ts";
import { isSpoken } from "./messages.ts";

interface MissedSources {
  readonly api: DiscordApi;
  readonly places: Places;
  readonly people: People;
  readonly botId: string;
}

/**
 * What people wrote in a channel since a moment, oldest first, as the gateway would have told of it: with the server
 * and the roles of the author, which the list leaves out. A channel that is gone has nothing.
 */
export async function missedMessages(
  { api, places, people, botId }: MissedSources,
  channelId: string,
  since: number,
  signal: AbortSignal,
): Promise<readonly Payload[]> {
  try {
    const { guildId } = await places.find(channelId, signal);
    const messages = await listPages(api, channelId, since, signal);
    const spoken = messages.filter((message) => isSpoken(message, botId));
    return guildId === undefined ? spoken : await asMembersSay(people, guildId, spoken, signal);
  } catch (error) {
    if (isLasting(error)) return [];
    throw error;
  }
}

/** One author is asked for after the other: Discord refuses many such requests at once. */
async function asMembersSay(
  people: People,
  guildId: string,
  messages: readonly Payload[],
  signal: AbortSignal,
): Promise<readonly Payload[]> {
  const rolesOf = new Map<string, readonly string[] | undefined>();
  for (const userId of new Set(messages.map(authorOf)))
    rolesOf.set(userId, await people.roles(guildId, userId, signal));
  return messages.map((message) => {
    const roles = rolesOf.get(authorOf(message));
    return {
      ...message,
      guild_id: guildId,
      ...(roles === undefined ? {} : { member: { roles: [...roles] } }),
    };
  });
}

function authorOf(message: Payload): string {
  return textAt(objectAt(message, "author"), "id") ?? "";
}

/** Messages since a moment, oldest first, page after page as far as they are read. */
async function listPages(
  api: DiscordApi,
  channelId: string,
  since: number,
  signal: AbortSignal,
): Promise<readonly Payload[]> {
  const messages: Payload[] = [];
  let after: number | string | undefined = since;
  for (let pages = 0; pages < limits.missedPages && after !== undefined; pages++) {
    const page = await listMessages(api, channelId, { after, signal });
    messages.push(...page);
    after = page.length < limits.pageSize ? undefined : textAt(page.at(-1) ?? {}, "id");
  }
  return messages;
}
