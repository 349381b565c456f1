import { ChannelError, type OutboundPart } from "@signalbox/channel";
import { toPlainText } from "@signalbox/channel/markdown";

/** Returns the text of a part as Messages shows it. */
export function toText(part: OutboundPart): string {
  if (part.type === "text") return part.text;
  if (part.type === "markdown") return toPlainText(part.text);
  throw new ChannelError("unsupported", `iMessage: a part of type ${part.type} cannot be sent`);
}
