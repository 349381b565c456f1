import { objectAt, type Payload, textAt, timeAt } from "@signalbox/channel";
import { wordsOf } from "../history.ts";

/** What is read of a merged forward: so many messages and UTF-16 units, and forwards within forwards so deep. */
const most = { messages: 100, length: 20_000, depth: 4, names: 20 } as const;

/** A person's name by the open id, where it can be found out. */
export type NameOf = (userId: string) => Promise<string | undefined>;

/**
 * A merged forward as text. The push of one says nothing of what is in it; asked for, it comes as a flat list of itself
 * and all messages in it, each with the id of the forward that it is part of.
 */
export async function forwardedText(
  forwardId: string,
  items: readonly Payload[],
  nameOf: NameOf,
): Promise<string> {
  const parts = partsOf(forwardId, items, 1);
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

/** The messages of a forward, and after each one that is a forward itself those in it. */
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
  // Lines after the first stand further in, so that none of them passes for another message.
  return `${indent}${names.get(sender) ?? sender}${when}: ${words.replaceAll("\n", `\n${indent}  `)}`;
}

function senderOf(item: Payload): string {
  return textAt(objectAt(item, "sender"), "id") ?? "somebody";
}
