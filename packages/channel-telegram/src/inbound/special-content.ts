import { isPayload, objectAt, objectsAt, type Payload, textAt } from "@signalbox/channel";

/** Describes content without text, such as a location or a poll. Returns an empty string for other content. */
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
  if (typeof value === "number") return `[${textAt(dice, "emoji") ?? "dice"}: ${value}]`;
  const checklist = describeChecklist(objectAt(message, "checklist"));
  if (checklist !== "") return checklist;
  if (isPayload(message["sticker"])) return named("sticker", textAt(objectAt(message, "sticker"), "emoji"));
  for (const kind of ["game", "invoice"])
    if (isPayload(message[kind])) return named(kind, textAt(objectAt(message, kind), "title"));
  if (isPayload(message["story"]))
    return named("story", textAt(objectAt(objectAt(message, "story"), "chat"), "title"));
  // The files of unpaid media are not accessible.
  return isPayload(message["paid_media"]) ? "[paid media]" : "";
}

function describeChecklist(checklist: Payload): string {
  const title = textAt(checklist, "title");
  if (title === undefined) return "";
  const tasks = objectsAt(checklist, "tasks").map((task) => {
    const isDone = typeof task["completion_date"] === "number" && task["completion_date"] > 0;
    return `- [${isDone ? "x" : " "}] ${textAt(task, "text") ?? ""}`;
  });
  return [`[checklist: ${title}]`, ...tasks].join("\n");
}

function named(kind: string, name: string | undefined): string {
  return name === undefined ? `[${kind}]` : `[${kind}: ${name}]`;
}
