import { objectAt, type Payload, textAt, timeAt } from "@signalbox/channel";

/** The header of a push, of schema 2.0 or 1.0. */
export type Envelope =
  | { readonly kind: "challenge"; readonly challenge: string; readonly token: string | undefined }
  | {
      readonly kind: "event";
      readonly type: string;
      readonly token: string | undefined;
      /** Undefined if the push does not contain one. */
      readonly eventId: string | undefined;
      /** Milliseconds since the epoch. */
      readonly at: number | undefined;
      readonly tenant: string | undefined;
      readonly event: Payload;
      readonly raw: Payload;
    };

/** Returns `undefined` for anything that is not a push from Feishu. */
export function readEnvelope(body: Payload): Envelope | undefined {
  if (body["type"] === "url_verification") {
    const challenge = textAt(body, "challenge");
    return challenge === undefined
      ? undefined
      : { kind: "challenge", challenge, token: textAt(body, "token") };
  }
  const event = objectAt(body, "event");
  const header = objectAt(body, "header");
  const type = textAt(header, "event_type");
  if (type !== undefined) {
    return {
      kind: "event",
      type,
      token: textAt(header, "token"),
      eventId: textAt(header, "event_id"),
      at: timeAt(header, "create_time"),
      tenant: textAt(header, "tenant_key"),
      event,
      raw: body,
    };
  }
  const oldType = textAt(event, "type");
  if (oldType === undefined) return undefined;
  return {
    kind: "event",
    type: oldType,
    token: textAt(body, "token"),
    eventId: textAt(body, "uuid"),
    at: timeAt(body, "ts"),
    tenant: textAt(event, "tenant_key"),
    event,
    raw: body,
  };
}

export type EventEnvelope = Extract<Envelope, { kind: "event" }>;
