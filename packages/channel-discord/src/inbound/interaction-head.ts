import { objectAt, type Payload, textAt } from "@signalbox/channel";
import { idAt } from "../address.ts";

/** The fields of an interaction that are required for a response within three seconds. */
export interface InteractionHead {
  readonly id: string;
  readonly token: string;
  readonly kind: "command" | "message-command" | "component" | "form";
  /** True if Discord shows a pending response until the bot writes a message. */
  readonly awaitsMessage: boolean;
  readonly applicationId: string;
}

/** Sources: "Receiving and Responding", "Application Commands". Autocompletion is not offered. */
const interactionType = { command: 2, component: 3, form: 5 } as const;
const onMessage = 3;

/** Returns `undefined` for malformed or unknown interactions. */
export function readInteraction(payload: Payload): InteractionHead | undefined {
  const kind = getKind(payload);
  const [id, applicationId] = ["id", "application_id"].map((key) => idAt(payload, key));
  const token = textAt(payload, "token");
  if (kind === undefined || id === undefined || token === undefined || applicationId === undefined)
    return undefined;
  // The form of a button belongs to the button's message. The form of a message command belongs to no
  // message.
  const isOfMessage = textAt(objectAt(payload, "message"), "id") !== undefined;
  const awaitsMessage = kind === "command" || (kind === "form" && !isOfMessage);
  return { id, token, kind, awaitsMessage, applicationId };
}

function getKind(payload: Payload): InteractionHead["kind"] | undefined {
  switch (payload["type"]) {
    case interactionType.command:
      return objectAt(payload, "data")["type"] === onMessage ? "message-command" : "command";
    case interactionType.component:
      return "component";
    case interactionType.form:
      return "form";
    default:
      return undefined;
  }
}
