import { type Mention, objectsAt, type Payload, textAt } from "@signalbox/channel";
import { getDisplayName } from "../people.ts";

/** Ids that refer to the bot in mentions. */
export interface OwnIds {
  readonly botId: string;
  /** The role that Discord created for the bot in this server. */
  readonly roleId: string | undefined;
}

/** Reads the mentioned users. If a reply pings the author of the quoted message, Discord includes that user. */
export function readMentions(message: Payload, own: OwnIds): readonly Mention[] {
  const people = objectsAt(message, "mentions").flatMap((user): Mention[] => {
    const id = textAt(user, "id");
    const name = getDisplayName(user);
    return id === undefined ? [] : [{ id, isSelf: id === own.botId, name }];
  });
  const byRole = own.roleId !== undefined && mentionedRoles(message).includes(own.roleId);
  return byRole && !people.some(({ isSelf }) => isSelf)
    ? [...people, { id: own.botId, isSelf: true }]
    : people;
}

export function mentionedRoles(message: Payload): readonly unknown[] {
  const roles = message["mention_roles"];
  return Array.isArray(roles) ? roles : [];
}

/** Returns true if the text itself mentions the bot. A reply can ping the bot without a mention in its text. */
export function mentionsBot(content: string, own: OwnIds): boolean {
  return new RegExp(`<@(?:!?${own.botId}${own.roleId === undefined ? "" : `|&${own.roleId}`})>`).test(
    content,
  );
}

const mentionPattern = /<@!?(\d{1,20})>|<a?:(\w{2,32}):\d{1,20}>/g;

/** Removes leading mentions of the bot. Writes other mentions as `@Name` and custom emoji as `:name:`. */
export function writeMentions(content: string, mentions: readonly Mention[], own: OwnIds): string {
  const names = new Map(mentions.map(({ id, name }) => [id, name]));
  let rest = content.trimStart();
  for (;;) {
    const [called = ""] = /^<@[!&]?\d{1,20}>/.exec(rest) ?? [];
    if (called === "" || !mentionsBot(called, own)) break;
    rest = rest.slice(called.length).trimStart();
  }
  return rest.replace(mentionPattern, (written, id: string | undefined, emoji: string | undefined) => {
    if (emoji !== undefined) return `:${emoji}:`;
    const name = id === undefined ? undefined : names.get(id);
    return name === undefined ? written : `@${name}`;
  });
}
