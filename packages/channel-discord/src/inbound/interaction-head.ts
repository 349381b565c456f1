import { objectAt, type Payload, textAt } from "@signalbox/channel";
import { idAt } from "../address.ts";

/** Somebody used a command, a button, a menu or a form, as far as it has to be answered at once. */
export interface InteractionHead {
  readonly id: string;
  readonly token: string;
  readonly kind: "command" | "message-command" | "component" | "form";
  /** Discord shows that an answer is being written, until there is one. */
  readonly awaitsMessage: boolean;
  readonly applicationId: string;
}

/** Source: Discord's pages on receiving interactions and on application commands. Completions are not offered. */
const interactionType = { command: 2, component: 3, form: 5 } as const;
const onMessage = 3;

/** Undefined for what cannot be read, and for kinds that are not known. */
export function readInteraction(payload: Payload): InteractionHead | undefined {
  const kind = kindOf(payload);
  const [id, applicationId] = ["id", "application_id"].map((key) => idAt(payload, key));
  const token = textAt(payload, "token");
  if (kind === undefined || id === undefined || token === undefined || applicationId === undefined)
    return undefined;
  // The form of a button belongs to the message with the button; that of a message's command to none.
  const isOfMessage = textAt(objectAt(payload, "message"), "id") !== undefined;
  const awaitsMessage = kind === "command" || (kind === "form" && !isOfMessage);
  return { id, token, kind, awaitsMessage, applicationId };
}

function kindOf(payload: Payload): InteractionHead["kind"] | undefined {
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
