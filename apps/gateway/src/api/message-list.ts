import type { MessageInfo, MessageList, MessageOutcome, MessageQuery } from "@signalbox/protocol";
import type { InboxId } from "@signalbox/store";
import { readOpenReplies } from "../messages/open-replies.ts";
import type { ServiceStore } from "../messages/service-store.ts";
import { messageInfo } from "../messages/traces.ts";
import { type PersonNames, readPairedNames } from "./person-names.ts";

const DEFAULT_LIMIT = 100;

/** Number of rows to read at once, and maximum number of rows that one request examines. */
const PAGE_ROWS = 200;
const MAX_ROWS = 4_000;

const OUTCOMES: Readonly<Record<MessageInfo["state"], MessageOutcome>> = {
  accepted: "open",
  queued: "open",
  running: "open",
  sending: "open",
  uncertain: "failed",
  replied: "answered",
  silent: "unanswered",
  ignored: "unanswered",
  "failed-reported": "failed",
  "expired-reported": "failed",
  unreported: "failed",
};

/** Searches the messages of all channels, latest first. */
export async function searchMessages(
  store: Pick<ServiceStore, "inbox" | "outbox" | "pairing">,
  query: MessageQuery,
): Promise<MessageList> {
  const [names, replies] = await Promise.all([readPairedNames(store), readOpenReplies(store)]);
  const { session, before, limit = DEFAULT_LIMIT } = query;
  const isWanted = createFilter(query);
  const found: MessageInfo[] = [];
  let last = before as InboxId | undefined;
  for (let examined = 0; examined < MAX_ROWS; examined += PAGE_ROWS) {
    const rows = await store.inbox.list({ sessionKey: session, before: last, limit: PAGE_ROWS });
    for (const row of rows) {
      if (found.length === limit) return { messages: found, next: last };
      last = row.id;
      const message = withName(messageInfo(row, replies), names);
      if (isWanted(message)) found.push(message);
    }
    if (rows.length < PAGE_ROWS) return { messages: found };
  }
  return { messages: found, next: last };
}

/** Adds the name of a paired sender whose platform does not report names in messages. */
function withName(message: MessageInfo, names: PersonNames): MessageInfo {
  if (message.senderName !== undefined) return message;
  return { ...message, senderName: names.get(message.channel, message.sender) };
}

/** Returns a function that tests a message against the conditions of a query. */
function createFilter({ outcome, channel, agent, text }: MessageQuery): (message: MessageInfo) => boolean {
  const wanted = text?.trim().toLowerCase() ?? "";
  return (message) =>
    (outcome === undefined || OUTCOMES[message.state] === outcome) &&
    (channel === undefined || message.channel === channel) &&
    (agent === undefined || message.agent === agent) &&
    (wanted === "" ||
      [message.text, message.sender, message.senderName ?? ""].some((each) =>
        each.toLowerCase().includes(wanted),
      ));
}
