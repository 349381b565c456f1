import { isDeepStrictEqual } from "node:util";
import {
  addressedKinds,
  conversationKinds,
  type InboundEvent,
  MAX_REFERENCES,
  referenceKinds,
} from "../contract/events.ts";
import type { Json } from "../contract/json.ts";
import { isPayload } from "../inbound/payload.ts";

/** Returns the contract violations of an event. Empty if it is valid. */
export function checkEvent(
  event: InboundEvent,
  expected: { readonly channel: string; readonly account: string },
): string[] {
  const problems: string[] = [];
  const must = (holds: boolean, what: string): void => {
    if (!holds) problems.push(what);
  };
  must(event.channel === expected.channel, `channel is ${event.channel}, not ${expected.channel}`);
  must(event.account === expected.account, `account is ${event.account}, not ${expected.account}`);
  must(event.eventId !== "", "eventId is empty");
  must(event.address !== "", "address is empty");
  must(event.conversation.id !== "", "conversation.id is empty");
  must(conversationKinds.includes(event.conversation.kind), "conversation.kind is unknown");
  must(addressedKinds.includes(event.addressed), "addressed is unknown");
  must(
    (event.conversation.kind === "direct") === (event.addressed === "dm"),
    "addressed must be dm in direct conversations, and only there",
  );
  must(Number.isInteger(event.timestamp) && event.timestamp > 1e12, "timestamp is not in milliseconds");
  must(survivesJson(event), "the event changes in a round trip through JSON");
  if (event.type === "delivery") {
    must(event.messageId !== "", "messageId is empty");
    must(event.reason.trim() !== "", "reason is empty");
  }
  if (event.type === "lifecycle" && event.what === "gap")
    must(isPeriod(event.detail), "detail of a gap must be { from, to } in milliseconds, with from before to");
  if (event.type === "message" || event.type === "edited") {
    must(event.messageId !== "", "messageId is empty");
    must(!/\r|\u2028|\u2029/.test(event.text), "text contains line endings other than \\n");
    must(event.text.isWellFormed(), "text contains a lone surrogate");
    must(event.sender.id !== "", "sender.id is empty");
    for (const media of event.media)
      must(/^[\w.+-]+\/[\w.+-]+$/.test(media.mimeType), `${media.mimeType} is not a valid mimeType`);
    for (const mention of event.mentions) must(mention.id !== "", "a mention has no id");
    const { references = [] } = event;
    must(references.length <= MAX_REFERENCES, `there are more than ${MAX_REFERENCES} references`);
    for (const { kind, messageId, text = "", media = [] } of references) {
      must(referenceKinds.includes(kind), `a reference has the unknown kind ${kind}`);
      must(
        messageId !== undefined || text !== "" || media.length > 0,
        "a reference has no id, text or media",
      );
      must(!/\r|\u2028|\u2029/.test(text), "the text of a reference contains line endings other than \\n");
    }
    must(
      event.addressed !== "mention" || event.mentions.some((one) => one.isSelf),
      "addressed is mention, but no mention has isSelf",
    );
  }
  return problems;
}

function isPeriod(detail: Json | undefined): boolean {
  if (!isPayload(detail)) return false;
  const { from, to } = detail;
  return typeof from === "number" && typeof to === "number" && from > 1e12 && from <= to;
}

/** Returns true if a round trip through JSON preserves a value. A property that is `undefined` counts as absent. */
function survivesJson(value: unknown): boolean {
  return isDeepStrictEqual(JSON.parse(JSON.stringify(value)), withoutUndefined(value));
}

function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined);
  if (!isPayload(value) || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return Object.fromEntries(entries.map(([key, inner]) => [key, withoutUndefined(inner)]));
}
