import { getBudgetFacts } from "@signalbox/budgets";
import { getRepliedTo, getSpeakerKey } from "@signalbox/channel";
import type { Phrases } from "@signalbox/phrases";
import { explain, whyLines } from "@signalbox/telemetry";
import { explainRoute } from "../configure/routing.ts";
import type { ServiceStore, StoredRow } from "../messages/service-store.ts";
import { findInConversation, findMessage, messageInfo, readTrace } from "../messages/traces.ts";
import type { Answer, CommandMessage } from "./command.ts";

/** Argument of `/why` that shows every step as the trace describes it. */
const DETAILS = "details";

/** `/why`: explains what happened to a message. */
export const why: Answer = async (ctx, { message, args, phrases }) => {
  const { store } = ctx;
  const words = args.split(/\s+/).filter((word) => word !== "");
  const asked = words.find((word) => word !== DETAILS) ?? "";
  const row = asked === "" ? await lastMessage(store, message) : await namedMessage(store, message, asked);
  if (row === undefined || !concerns(row, message))
    return asked === "" ? phrases.nothingBefore : phrases.noMessage(asked);
  // Only owners see the binding tiers, because they reveal the bindings of other people.
  const isOwner = message.stored.role === "owner";
  const trace = await readTrace(
    store,
    row.id,
    isOwner ? (event) => explainRoute(ctx.router(), event) : undefined,
  );
  const isDetailed = trace !== undefined && words.includes(DETAILS);
  const lines = isDetailed ? whyLines(trace).map(({ stage, summary }) => `${stage}: ${summary}`) : [];
  const { sentence, remedy } = explain(
    trace ?? { messageId: row.id, entries: [], message: messageInfo(row, new Map()) },
    phrases,
  );
  const advice = isOwner && remedy !== undefined ? [remedy] : [];
  const subject = phrases.labelled(formatSubject(row), sentence);
  return [subject, ...advice, ...lines].join("\n");
};

const SUBJECT_CHARS = 40;

/** Returns the beginning of a message's text, or its id if it has none. */
function formatSubject({ messageId, id, payload: { event } }: StoredRow): string {
  const text = event.text.replace(/\s+/g, " ").trim();
  const characters = [...text];
  if (characters.length === 0) return messageId ?? id;
  return characters.length <= SUBJECT_CHARS
    ? `“${text}”`
    : `“${characters.slice(0, SUBJECT_CHARS - 1).join("")}…”`;
}

/** `/usage`: tokens and costs so far, and the remaining budgets. */
export const usage: Answer = async (ctx, { message, agent, phrases }) => {
  const { store, now } = ctx;
  const session = await store.sessions.get(message.sessionKey);
  const sender = getSpeakerKey(message.stored.event);
  const [asker] = await store.usage.sum({ by: "sender", sender, from: now() });
  const lines = [
    ...(await usageOfMessage(store, message, phrases)),
    phrases.labelled(phrases.usageHere, phrases.usage(session?.totals)),
    phrases.labelled(phrases.usageYours, phrases.usage(asker)),
  ];
  if (message.stored.role === "owner") {
    const of = { by: "agent", agentId: agent.id } as const;
    const [today] = await store.usage.sum({ ...of, from: now() });
    const [ever] = await store.usage.sum(of);
    lines.push(
      phrases.labelled(phrases.usageToday(agent.id), phrases.usage(today)),
      phrases.labelled(phrases.usageEver(agent.id), phrases.usage(ever)),
    );
  }
  const left = await ctx.spending.left(message);
  const budgets = left.map(({ budget, left, until }) =>
    phrases.budgetLeft({ ...getBudgetFacts(budget), left, until }),
  );
  return [...lines, ...budgets].join("\n");
};

/** Returns the usage of the run that answered the message to which `/usage` refers. */
async function usageOfMessage(
  { inbox, runs }: ServiceStore,
  message: CommandMessage,
  phrases: Phrases,
): Promise<string[]> {
  const row = await lastMessage({ inbox }, message);
  if (row?.runId === undefined || !concerns(row, message)) return [];
  const used = (await runs.get(row.runId))?.usage;
  if (used === undefined) return [];
  const isQuoted =
    row.messageId !== undefined && row.messageId === getRepliedTo(message.stored.event)?.messageId;
  return [phrases.labelled(phrases.usageOfMessage(isQuoted), phrases.usage(used))];
}

/** Returns true if the message may be looked up. Only owners may look up messages from other conversations. */
function concerns(row: StoredRow, { sessionKey, stored }: CommandMessage): boolean {
  return row.route?.sessionKey === sessionKey || stored.role === "owner";
}

/** Finds a message by its id, first in this conversation and then in all others. */
async function namedMessage(
  store: ServiceStore,
  { stored }: CommandMessage,
  id: string,
): Promise<StoredRow | undefined> {
  return (await findInConversation(store, stored.event, id)) ?? (await findMessage(store, id));
}

/** Returns the message that the command replies to. Otherwise returns the latest message that is not a command. */
async function lastMessage(
  store: Pick<ServiceStore, "inbox">,
  message: CommandMessage,
): Promise<StoredRow | undefined> {
  const { event } = message.stored;
  const repliedTo = getRepliedTo(event)?.messageId;
  const answered = repliedTo === undefined ? undefined : await findInConversation(store, event, repliedTo);
  if (answered !== undefined) return answered;
  const rows = await store.inbox.list({ sessionKey: message.sessionKey, before: message.id, limit: 50 });
  return rows.find((row) => row.kind === "message" && row.detail?.rule?.startsWith("command:") !== true);
}
