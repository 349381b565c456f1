import {
  type ChannelContext,
  type EventFacts,
  emitAll,
  eventFacts,
  type HandleResult,
  type InboundEvent,
  objectsAt,
  type Payload,
  textAt,
} from "@signalbox/channel";
import type { WhatsAppConfig } from "../config.ts";
import type { Statuses } from "../outbound/statuses.ts";
import { type Change, readChanges } from "./changes.ts";
import { readEcho, readMessage } from "./messages.ts";
import { readFailure, readReportedMessage } from "./statuses.ts";

/**
 * Creates the function that handles a webhook: stores the statuses of our messages and emits the events. Resolves once
 * everything is stored.
 */
export function createReceiver(
  context: ChannelContext<WhatsAppConfig>,
  statuses: Pick<Statuses, "record">,
  onMessage: (address: string, messageId: string) => void,
): (payload: Payload) => Promise<HandleResult> {
  const { config, logger } = context;

  async function readChange(change: Change, facts: EventFacts): Promise<readonly InboundEvent[]> {
    const { field, value } = change;
    if (field !== "messages" && field !== "smb_message_echoes") return [];
    if (change.phoneNumberId !== config.phoneNumberId) {
      logger.warn("ignored an event of another phone number; give each number its own webhook URL", {
        phoneNumberId: change.phoneNumberId ?? null,
      });
      return [];
    }
    const reported = objectsAt(value, "statuses");
    for (const status of reported) {
      const message = readReportedMessage(status);
      if (message !== undefined) await statuses.record(message);
    }
    const entries = [
      ...objectsAt(value, "messages").map((message) => readMessage(message, change, facts)),
      ...objectsAt(value, "message_echoes").map((message) => readEcho(message, change, facts)),
      ...reported.map((status) => readFailure(status, facts)),
    ];
    for (const error of objectsAt(value, "errors"))
      logger.warn("WhatsApp reported a problem of the number", {
        reason: textAt(error, "title") ?? "unknown",
      });
    return entries.filter((event) => event !== undefined);
  }

  return async function receive(payload) {
    const changes = readChanges(payload);
    if (changes === undefined) return "malformed";
    const facts = eventFacts(context, config.phoneNumberId);
    const events: InboundEvent[] = [];
    for (const change of changes) events.push(...(await readChange(change, facts)));
    return emitAll(context, events, async (event) => {
      if (event.type === "message" && !event.sender.isSelf) onMessage(event.address, event.messageId);
    });
  };
}
