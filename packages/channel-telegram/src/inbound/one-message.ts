import type { Addressed, InboundEvent, MessageEvent } from "@signalbox/channel";

/** The parts of an album as the one message that people see: all pictures, and the words of whichever has some. */
export function asOneMessage(events: readonly InboundEvent[]): readonly InboundEvent[] {
  const parts = events.filter((event): event is MessageEvent => event.type === "message");
  const [first] = parts;
  // A caption can be a command.
  if (first === undefined || parts.length < events.length || parts.length === 1) return events;
  return [
    {
      ...first,
      addressed: strongest.find((way) => parts.some(({ addressed }) => addressed === way)) ?? "none",
      text: parts
        .map(({ text }) => text)
        .filter((text) => text !== "")
        .join("\n"),
      media: parts.flatMap(({ media }) => media),
      mentions: parts.flatMap(({ mentions }) => mentions),
    },
  ];
}

const strongest: readonly Addressed[] = ["dm", "mention", "reply"];
