import { type Mention, objectsAt, type Payload, textAt } from "@signalbox/channel";
import { nameOf } from "../people.ts";

/** Who the bot is to those who mention it. */
export interface OwnIds {
  readonly botId: string;
  /** The role of the server that came with the bot. */
  readonly roleId: string | undefined;
}

/** Whom a message mentions. A reply that calls the person it answers has them here, too. */
export function readMentions(message: Payload, own: OwnIds): readonly Mention[] {
  const people = objectsAt(message, "mentions").flatMap((user): Mention[] => {
    const id = textAt(user, "id");
    const name = nameOf(user);
    return id === undefined
      ? []
      : [{ id, isSelf: id === own.botId, ...(name === undefined ? {} : { name }) }];
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

/** Whether the words themselves call the bot, and not only the fact that they answer it. */
export function callsByName(content: string, own: OwnIds): boolean {
  return new RegExp(`<@(?:!?${own.botId}${own.roleId === undefined ? "" : `|&${own.roleId}`})>`).test(
    content,
  );
}

const inText = /<@!?(\d{1,20})>|<a?:(\w{2,32}):\d{1,20}>/g;

/** Takes the bot's own mentions off the front, and writes those of others as `@Name` and custom emoji as `:name:`. */
export function writeMentions(content: string, mentions: readonly Mention[], own: OwnIds): string {
  const names = new Map(mentions.map(({ id, name }) => [id, name]));
  let rest = content.trimStart();
  for (;;) {
    const [called = ""] = /^<@[!&]?\d{1,20}>/.exec(rest) ?? [];
    if (called === "" || !callsByName(called, own)) break;
    rest = rest.slice(called.length).trimStart();
  }
  return rest.replace(inText, (written, id: string | undefined, emoji: string | undefined) => {
    if (emoji !== undefined) return `:${emoji}:`;
    const name = id === undefined ? undefined : names.get(id);
    return name === undefined ? written : `@${name}`;
  });
}
