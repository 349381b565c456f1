import {
  type ErrorMeaning,
  type EventFacts,
  eventBase,
  type InboundEvent,
  objectsAt,
  type Payload,
  textAt,
  timeAt,
} from "@signalbox/channel";
import { toMeaning } from "../errors.ts";
import { isKey, type ReportedMessage } from "../outbound/statuses.ts";
import { readPersonId, readPlace } from "./place.ts";

/** Returns the message that a status is about, if this channel sent it with a key. Source: Meta's `Statuses`. */
export function readReportedMessage(status: Payload): ReportedMessage | undefined {
  const id = textAt(status, "id");
  const key = textAt(status, "biz_opaque_callback_data");
  if (id === undefined || key === undefined || !isKey(key)) return undefined;
  const failure = findFailure(status);
  return failure === undefined ? { key, id } : { key, id, failure: failure.reason, code: failure.code };
}

/** Returns the event of a message that was accepted and then not delivered. Other statuses cause no event. */
export function readFailure(status: Payload, facts: EventFacts): InboundEvent | undefined {
  const failure = findFailure(status);
  const messageId = textAt(status, "id");
  const personId = readPersonId(status, "recipient_id", "recipient_user_id") ?? "";
  const place = readPlace(status, personId);
  if (failure === undefined || messageId === undefined || place === undefined) return undefined;
  const base = eventBase("whatsapp", facts, {
    eventId: `${messageId} failed`,
    ...place,
    sender: { id: facts.botId, isBot: true, isSelf: true },
    timestamp: timeAt(status, "timestamp"),
    payload: status,
  });
  return { ...base, type: "delivery", messageId, state: "failed", ...failure };
}

function findFailure(
  status: Payload,
): { readonly reason: string; readonly code?: ErrorMeaning["code"] } | undefined {
  if (status["status"] !== "failed") return undefined;
  const [error = {}] = objectsAt(status, "errors");
  const { reason = "WhatsApp gives no reason", code, platformCode } = toMeaning(error);
  return { reason: platformCode === undefined ? reason : `${reason} (${platformCode})`, code };
}
