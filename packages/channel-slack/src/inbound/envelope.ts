import { isPayload, objectAt, type Payload, parsePayload, textAt } from "@signalbox/channel";

/** A delivery, independent of its transport. */
export type Envelope =
  | { readonly kind: "event"; readonly event: Payload; readonly body: Payload }
  /** A click, a shortcut or a form submission. */
  | { readonly kind: "interaction"; readonly body: Payload }
  | { readonly kind: "command"; readonly body: Payload };

/** Content of a signed request. */
export type Request =
  | Envelope
  | { readonly kind: "challenge"; readonly challenge: string }
  | { readonly kind: "ping" };

/** Reads a frame of socket mode. Returns `undefined` if it is not a delivery. */
export function readFrame(type: string, body: unknown): Envelope | undefined {
  if (!isPayload(body)) return undefined;
  if (type === "events_api") return eventIn(body);
  if (type === "interactive") return { kind: "interaction", body };
  return type === "slash_commands" ? { kind: "command", body } : undefined;
}

/**
 * Reads a request body: events are JSON, interactions are JSON in a form field, and commands are a form. Returns
 * `undefined` for anything else.
 */
export function readRequest(text: string, type: string): Request | undefined {
  if (!type.startsWith("application/x-www-form-urlencoded")) {
    const body = parsePayload(text);
    const challenge = body?.["type"] === "url_verification" ? textAt(body, "challenge") : undefined;
    if (challenge !== undefined) return { kind: "challenge", challenge };
    return body === undefined ? undefined : eventIn(body);
  }
  const form = new URLSearchParams(text);
  const payload = form.get("payload");
  if (payload !== null) {
    const body = parsePayload(payload);
    return body === undefined ? undefined : { kind: "interaction", body };
  }
  if (form.get("ssl_check") === "1") return { kind: "ping" };
  return form.has("command") ? { kind: "command", body: Object.fromEntries(form) } : undefined;
}

function eventIn(body: Payload): Envelope | undefined {
  const event = objectAt(body, "event");
  if (body["type"] !== "event_callback" || textAt(event, "type") === undefined) return undefined;
  return { kind: "event", event, body };
}
