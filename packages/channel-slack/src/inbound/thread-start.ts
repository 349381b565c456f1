import { isChannelError, type Payload, type Reference, textAt, timeAt } from "@signalbox/channel";
import { messageId } from "../address.ts";
import type { History } from "../history.ts";
import { isOwnMessage, type People, type Self } from "../people.ts";
import { readContent } from "./content.ts";

interface Sources {
  readonly history: History;
  readonly people: People;
  readonly self: Self;
}

/** The message with which Slack opens a thread of the agent view. It has no human author. */
const AGENT_VIEW_SUBTYPE = "assistant_app_thread";

/**
 * Looks up the first message of a thread. If that fails, the result contains only the id, because the message that
 * refers to it should not be delayed.
 *
 * @param thread timestamp of the first message
 */
export async function lookUpThreadStart(
  { history, people, self }: Sources,
  { channel, thread }: { readonly channel: string; readonly thread: string },
  signal: AbortSignal,
): Promise<Reference> {
  const unknown = { kind: "thread", messageId: messageId({ channel, ts: thread }) } as const;
  try {
    const { messages } = await history.page({ channel, thread }, { size: 1 }, signal);
    const root = messages.find(({ ts }) => ts === thread);
    if (root === undefined || root["subtype"] === AGENT_VIEW_SUBTYPE) return unknown;
    const userId = textAt(root, "user");
    const name = userId === undefined ? undefined : (await people.name(userId, signal))?.name;
    return { ...unknown, ...readMessage(root, self, name) };
  } catch (error) {
    if (!isChannelError(error)) throw error;
    return unknown;
  }
}

function readMessage(root: Payload, self: Self, name: string | undefined): Omit<Reference, "kind"> {
  const { text, media, references } = readContent(root, () => undefined, self.id);
  const botId = textAt(root, "bot_id");
  const isSelf = isOwnMessage(root, self);
  const shared = references.map((reference) => reference.text ?? "");
  return {
    sender: {
      id: textAt(root, "user") ?? botId,
      name: name ?? textAt(root, "username"),
      isBot: botId !== undefined || isSelf,
      isSelf,
    },
    timestamp: timeAt(root, "ts"),
    text: [text, ...shared].filter((part) => part !== "").join("\n\n"),
    media,
  };
}
