import { objectAt, objectsAt, type Payload, textAt } from "@signalbox/channel";

/** Describes content without text: a location, a contact, a poll or dice. Returns an empty string for anything else. */
export function describeSpecialContent(message: Payload): string {
  const venue = objectAt(message, "venue");
  const place = objectAt(message, "location");
  const { latitude, longitude } = place;
  if (typeof latitude === "number" && typeof longitude === "number") {
    const name = [textAt(venue, "title"), textAt(venue, "address")]
      .filter((word) => word !== undefined)
      .join(", ");
    return `[location: ${name === "" ? "" : `${name}, `}${latitude}, ${longitude}]`;
  }
  const contact = objectAt(message, "contact");
  const phone = textAt(contact, "phone_number");
  if (phone !== undefined) {
    const name = [textAt(contact, "first_name"), textAt(contact, "last_name")].filter(
      (word) => word !== undefined,
    );
    return `[contact: ${[...name, phone].join(" ")}]`;
  }
  const poll = objectAt(message, "poll");
  const question = textAt(poll, "question");
  if (question !== undefined) {
    const answers = objectsAt(poll, "options").flatMap((option) => textAt(option, "text") ?? []);
    return `[poll: ${question} (${answers.join(" / ")})]`;
  }
  const dice = objectAt(message, "dice");
  const { value } = dice;
  return typeof value === "number" ? `[${textAt(dice, "emoji") ?? "dice"}: ${value}]` : "";
}
