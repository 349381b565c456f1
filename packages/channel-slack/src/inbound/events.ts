import { objectAt, type Payload, type Sender, textAt } from "@signalbox/channel";
import type { Envelope } from "./envelope.ts";
import { createBase, type Facts, getEventId, type Read, readSender } from "./event-base.ts";
import { readForm } from "./form-submissions.ts";
import { readCommand, readInteraction } from "./interactions.ts";
import { readMessageEvent } from "./messages.ts";
import { reactionEvent } from "./reactions.ts";

/** Returns the conversation id of a delivery. */
export function getChannelId({ kind, ...envelope }: Envelope): string | undefined {
  if (kind === "command") return textAt(envelope.body, "channel_id");
  if (kind === "interaction")
    return (
      textAt(objectAt(envelope.body, "container"), "channel_id") ??
      textAt(objectAt(envelope.body, "channel"), "id") ??
      readForm(envelope.body)?.askedBy.channel
    );
  const event = "event" in envelope ? envelope.event : {};
  return (
    textAt(event, "channel") ??
    textAt(objectAt(event, "channel"), "id") ??
    textAt(objectAt(event, "item"), "channel")
  );
}

/** Converts a delivery to an event. Sources: the references of the Events API and of interaction payloads. */
export function readEnvelope(envelope: Envelope, facts: Facts): Read {
  switch (envelope.kind) {
    case "interaction":
      return readInteraction(envelope.body, facts);
    case "command":
      return readCommand(envelope.body, facts);
    case "event":
      return readEvent(envelope.event, envelope.body, facts);
  }
}

function readEvent(event: Payload, body: Payload, facts: Facts): Read {
  switch (event["type"]) {
    case "message":
    case "app_mention":
      return readMessageEvent(event, body, facts);
    case "reaction_added":
    case "reaction_removed":
      return reactionEvent(event, body, facts);
    case "member_joined_channel":
    case "member_left_channel":
      return readMember(event, body, facts);
    case "channel_rename":
    case "group_rename":
    case "channel_archive":
    case "channel_deleted":
    case "group_archive":
    case "group_deleted":
    case "group_left":
    case "channel_left":
      return readPlace(event, body, facts);
    default:
      return "ignored";
  }
}

function readMember(event: Payload, body: Payload, facts: Facts): Read {
  const channel = textAt(event, "channel");
  const user = textAt(event, "user");
  if (channel === undefined || user === undefined) return "malformed";
  const base = createBase(
    { channel, body, sender: readSender(event, facts), key: getEventId(event, body), at: event },
    facts,
  );
  const change = event["type"] === "member_joined_channel" ? "joined" : "left";
  return { ...base, type: "member", change, member: { id: user, isSelf: user === facts.self.id } };
}

/** Reads an event about a renamed conversation, or one that the bot can no longer access. */
function readPlace(event: Payload, body: Payload, facts: Facts): Read {
  const about = objectAt(event, "channel");
  const channel = textAt(event, "channel") ?? textAt(about, "id");
  if (channel === undefined) return "malformed";
  const base = createBase(
    { channel, body, sender: NO_SENDER, key: getEventId(event, body), at: event },
    facts,
  );
  if (!String(event["type"]).endsWith("_rename")) return { ...base, type: "lifecycle", what: "removed" };
  const name = textAt(about, "name");
  if (name === undefined) return "malformed";
  return {
    ...base,
    conversation: { ...base.conversation, subject: name },
    type: "lifecycle",
    what: "renamed",
    detail: { name },
  };
}

const NO_SENDER: Sender = { id: "", isBot: false, isSelf: false };
