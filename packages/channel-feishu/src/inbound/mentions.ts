import { type Mention, objectAt, objectsAt, type Payload, textAt } from "@signalbox/channel";
import { idIn } from "../address.ts";

/** A mention and its key in the text, for instance `@_user_1`. */
export interface KeyedMention extends Mention {
  readonly key: string;
}

export function readMentions(message: Payload, selfId: string | undefined): readonly KeyedMention[] {
  return objectsAt(message, "mentions").flatMap((mention) => {
    const key = textAt(mention, "key");
    const ids = objectAt(mention, "id");
    // In the history the id is text. In an event it is an object with three ids.
    const id = textAt(mention, "id") ?? idIn(ids);
    if (key === undefined || id === undefined) return [];
    const name = textAt(mention, "name");
    return [{ key, id, isSelf: id === selfId, name }];
  });
}

const mentionKey = /@_(?:user_\d+|all)/g;

/** Removes leading mentions of the bot and writes all other mentions as `@Name`. */
export function writeMentions(text: string, mentions: readonly KeyedMention[]): string {
  const byKey = new Map(mentions.map((one) => [one.key, one]));
  let rest = text.trimStart();
  for (;;) {
    const key = /^@_user_\d+/.exec(rest)?.[0];
    if (key === undefined || byKey.get(key)?.isSelf !== true) break;
    rest = rest.slice(key.length).trimStart();
  }
  return rest.replace(mentionKey, (key) => {
    if (key === "@_all") return "@all";
    const mention = byKey.get(key);
    return mention === undefined ? key : `@${mention.name ?? mention.id}`;
  });
}
