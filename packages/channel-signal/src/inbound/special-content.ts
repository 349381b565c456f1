import { isPayload, objectAt, objectsAt, type Payload, textAt } from "@signalbox/channel";

/** Describes shared contacts, polls and payments in words. Returns an empty string for other messages. */
export function describeSpecialContent(data: Payload): string {
  const contacts = objectsAt(data, "contacts").map(describeContact);
  const poll = data["pollCreate"];
  const parts = [
    ...contacts,
    isPayload(poll) ? describePoll(poll) : "",
    isPayload(data["payment"]) ? "[Payment]" : "",
  ];
  return parts.filter((part) => part !== "").join("\n");
}

/** Source: `JsonSharedContact`. */
function describeContact(contact: Payload): string {
  const name = objectAt(contact, "name");
  const full = [textAt(name, "given"), textAt(name, "family")].filter((part) => part !== undefined).join(" ");
  const values = [...objectsAt(contact, "phone"), ...objectsAt(contact, "email")];
  const label = textAt(name, "nickname") ?? (full || textAt(contact, "organization"));
  return ["Contact:", label ?? "", ...values.map((one) => textAt(one, "value") ?? "")]
    .filter(Boolean)
    .join(" ");
}

/** Source: `JsonPollCreate`. */
function describePoll(poll: Payload): string {
  const options: readonly unknown[] = Array.isArray(poll["options"]) ? poll["options"] : [];
  const lines = options.map((option, index) => `${index + 1}. ${String(option)}`);
  return [`Poll: ${textAt(poll, "question") ?? ""}`, ...lines].join("\n");
}
