import type { Requester } from "./approval-store.ts";
import { escapeLine } from "./escape.ts";

/** Maximum length of a name or an id in an approval request, in characters. */
const MAX_NAME_CHARS = 60;

/** Returns a requester whose texts are escaped and shortened, so that a name cannot imitate lines of the request. */
export function cleanRequester({ id, name, channel, conversation, isAutomatic }: Requester): Requester {
  const { kind, title } = conversation;
  return {
    id: shorten(id),
    ...(name === undefined || name.trim() === "" ? {} : { name: shorten(name) }),
    ...(isAutomatic === true ? { isAutomatic } : {}),
    channel,
    conversation: {
      kind,
      id: shorten(conversation.id),
      ...(title === undefined || title.trim() === "" ? {} : { title: shorten(title) }),
    },
  };
}

function shorten(text: string): string {
  const characters = [...escapeLine(text)];
  return characters.length <= MAX_NAME_CHARS
    ? characters.join("")
    : `${characters.slice(0, MAX_NAME_CHARS - 1).join("")}…`;
}
