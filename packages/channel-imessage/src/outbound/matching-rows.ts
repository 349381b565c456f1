import type { OutboundPart } from "@signalbox/channel";
import type { KnownChats } from "../chats.ts";
import type { Row } from "../row.ts";
import { toText } from "./text.ts";

/** Returns the rows with the content of a part, except for messages with a receipt. */
export function findMatching(
  rows: readonly Row[],
  part: OutboundPart,
  chats: Pick<KnownChats, "isSent">,
): readonly Row[] {
  return rows.filter((row) => row.isFromMe && !chats.isSent(row.guid) && hasContent(row, part));
}

function hasContent({ text, media }: Row, part: OutboundPart): boolean {
  if (part.type !== "media") return normalize(text) === normalize(toText(part)) && media.length === 0;
  return media.some(({ name, size }) => name === part.name && (size === undefined || size === part.size));
}

/** Messages trims texts. */
function normalize(text: string): string {
  return text.replace(/\r\n?/g, "\n").trim();
}
