import { objectAt, objectsAt, type Payload, textAt } from "@signalbox/channel";

/** One change of a webhook. */
export interface Change {
  /** The subscribed field, for instance `messages`. */
  readonly field: string;
  readonly value: Payload;
  readonly phoneNumberId: string | undefined;
  /** The digits of the business's number. */
  readonly ownNumber: string;
}

/** Returns the changes of a webhook in order, or `undefined` if it is malformed. Source: Meta's `WebhookPayload`. */
export function readChanges(payload: Payload): readonly Change[] | undefined {
  if (!Array.isArray(payload["entry"])) return undefined;
  return objectsAt(payload, "entry").flatMap((entry) =>
    objectsAt(entry, "changes").map((change) => {
      const value = objectAt(change, "value");
      const metadata = objectAt(value, "metadata");
      return {
        field: textAt(change, "field") ?? "",
        value,
        phoneNumberId: textAt(metadata, "phone_number_id"),
        ownNumber: (textAt(metadata, "display_phone_number") ?? "").replace(/\D/g, ""),
      };
    }),
  );
}
