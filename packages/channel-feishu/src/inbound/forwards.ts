import { objectAt, type Payload, textAt, timeAt } from "@signalbox/channel";
import { wordsOf } from "../history.ts";

/** Limits of a merged forward: number of messages, UTF-16 code units, nesting depth and number of name lookups. */
const most = { messages: 100, length: 20_000, depth: 4, names: 20 } as const;

/** Returns a person's name by open id, if it is available. */
export type NameOf = (userId: string) => Promise<string | undefined>;

/**
 * Returns the text of a merged forward. Its event does not contain its messages. The API returns a flat list of the
 * forward and all messages in it, each with the id of the forward that contains it.
 */
export async function forwardedText(
  forwardId: string,
  items: readonly Payload[],
  nameOf: NameOf,
): Promise<string> {
  // Feishu may omit the id of the containing forward.
  const within = items
    .filter((item) => textAt(item, "message_id") !== forwardId)
    .map((item) => ({ upper_message_id: forwardId, ...item }));
  const parts = partsOf(forwardId, within, 1);
  const senders = new Set(parts.map(({ item }) => senderOf(item)));
  const names = new Map(
    await Promise.all(
      [...senders].slice(0, most.names).map(async (id) => [id, (await nameOf(id)) ?? id] as const),
    ),
  );
  const lines: string[] = ["[forwarded messages]"];
  let length = 0;
  for (const { item, depth } of parts.slice(0, most.messages)) {
    const line = lineOf(item, depth, names);
    length += line.length;
    if (length > most.length) break;
    lines.push(line);
  }
  const left = parts.length - (lines.length - 1);
  if (left > 0) lines.push(`[${left} more are left out]`);
  return lines.join("\n").toWellFormed();
}

interface Part {
  readonly item: Payload;
  readonly depth: number;
}

/** Returns the messages of a forward, each nested forward followed by its messages. */
function partsOf(forwardId: string, items: readonly Payload[], depth: number): readonly Part[] {
  if (depth > most.depth) return [];
  return items
    .filter((item) => textAt(item, "upper_message_id") === forwardId)
    .flatMap((item) => {
      const id = textAt(item, "message_id");
      const inner = id === undefined || id === forwardId ? [] : partsOf(id, items, depth + 1);
      return [{ item, depth }, ...inner];
    });
}

function lineOf(item: Payload, depth: number, names: ReadonlyMap<string, string>): string {
  const sender = senderOf(item);
  const at = timeAt(item, "create_time");
  const when = at === undefined ? "" : ` (${new Date(at).toISOString()})`;
  const words = wordsOf(item) || `[${textAt(item, "msg_type") ?? "message"}]`;
  const indent = "  ".repeat(depth - 1);
  // Lines after the first one are indented, so that none of them looks like a separate message.
  return `${indent}${names.get(sender) ?? sender}${when}: ${words.replaceAll("\n", `\n${indent}  `)}`;
}

function senderOf(item: Payload): string {
  return textAt(objectAt(item, "sender"), "id") ?? "somebody";
}
