import { isRetryable, objectAt, type Payload, textAt } from "@signalbox/channel";
import type { DiscordApi } from "../api.ts";
import type { Conversations } from "../conversations.ts";
import { listMessages } from "../history.ts";
import { limits } from "../limits.ts";
import type { People } from "../people.ts";
import { hasContent } from "./messages.ts";

interface MissedSources {
  readonly api: DiscordApi;
  readonly places: Conversations;
  readonly people: People;
  readonly botId: string;
}

/**
 * Returns the messages that people wrote in a channel since a time, oldest first, in the form of gateway events. Adds
 * the server and the author's roles, which Discord's list omits. Returns nothing if the channel no longer exists.
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
    const spoken = messages.filter((message) => hasContent(message, botId));
    return guildId === undefined ? spoken : await addMemberRoles(people, guildId, spoken, signal);
  } catch (error) {
    if (!isRetryable(error)) return [];
    throw error;
  }
}

/** Members are looked up one at a time, because Discord rejects many parallel requests. */
async function addMemberRoles(
  people: People,
  guildId: string,
  messages: readonly Payload[],
  signal: AbortSignal,
): Promise<readonly Payload[]> {
  const rolesOf = new Map<string, readonly string[] | undefined>();
  for (const userId of new Set(messages.map(getAuthorId)))
    rolesOf.set(userId, await people.roles(guildId, userId, signal));
  return messages.map((message) => {
    const roles = rolesOf.get(getAuthorId(message));
    return {
      ...message,
      guild_id: guildId,
      member: roles === undefined ? undefined : { roles: [...roles] },
    };
  });
}

function getAuthorId(message: Payload): string {
  return textAt(objectAt(message, "author"), "id") ?? "";
}

/** Reads all pages of messages since a time, oldest first, up to the page limit. */
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
