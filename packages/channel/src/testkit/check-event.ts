import { isDeepStrictEqual } from "node:util";
import { conversationKinds, type InboundEvent, waysOfAddressing } from "../contract/events.ts";

/** What is wrong with an event by the contract; empty for a good one. */
export function checkEvent(
  event: InboundEvent,
  expected: { readonly channel: string; readonly account: string },
): string[] {
  const wrong: string[] = [];
  const must = (holds: boolean, what: string): void => {
    if (!holds) wrong.push(what);
  };
  must(event.channel === expected.channel, `channel is ${event.channel}, not ${expected.channel}`);
  must(event.account === expected.account, `account is ${event.account}, not ${expected.account}`);
  must(event.eventId !== "", "eventId is empty");
  must(event.address !== "", "address is empty");
  must(event.conversation.id !== "", "conversation.id is empty");
  must(conversationKinds.includes(event.conversation.kind), "conversation.kind is unknown");
  must(waysOfAddressing.includes(event.addressed), "addressed is unknown");
  must(
    (event.conversation.kind === "direct") === (event.addressed === "dm"),
    "addressed is dm exactly in direct conversations",
  );
  must(Number.isInteger(event.timestamp) && event.timestamp > 1e12, "timestamp is not in milliseconds");
  must(isDeepStrictEqual(JSON.parse(JSON.stringify(event)), event), "it does not survive JSON");
  if (event.type === "message" || event.type === "edited") {
    must(event.messageId !== "", "messageId is empty");
    must(!/\r|\u2028|\u2029/.test(event.text), "text has line ends other than \\n");
    must(event.text.isWellFormed(), "text has half a surrogate pair");
    must(event.sender.id !== "", "sender.id is empty");
    for (const media of event.media)
      must(/^[\w.+-]+\/[\w.+-]+$/.test(media.mimeType), `mimeType ${media.mimeType}`);
    for (const mention of event.mentions) must(mention.id !== "", "a mention has no id");
    must(
      event.addressed !== "mention" || event.mentions.some((one) => one.isSelf),
      "addressed by a mention that is not there",
    );
  }
  return wrong;
}
