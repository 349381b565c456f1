import { type Capabilities, chunkText, type MessageEvent, type Outbound } from "@signalbox/channel";
import { parseReply } from "@signalbox/prompt";

/** A finished turn as the person is to see it. */
export interface Reply {
  /** What viewers and API clients get. */
  readonly text: string;
  readonly silent: boolean;
  /** The last part of the text, where it is about the end of the run and not the model's. */
  readonly note?: string;
  /** The message the model chose to answer; absent: the one that was asked. */
  readonly replyTo?: string;
}

const CUT = "… (the answer was cut at the model's output limit)";

/** How a run's text reads when it did not simply end. */
export type Ending = "complete" | "cut" | { readonly note: string };

/**
 * The visible reply of a run: its texts in order, directives taken out, silence honoured, an unfinished end marked.
 * `alreadySent` are texts that the message tool has delivered to this conversation.
 */
export function composeReply(
  texts: readonly string[],
  ending: Ending,
  alreadySent: readonly string[],
): Reply {
  const visible: string[] = [];
  let replyTo: string | undefined;
  for (const text of texts) {
    const turn = readTurn(text);
    replyTo ??= turn.replyTo;
    if (turn.visible === "" || alreadySent.some((sent) => sameText(sent, turn.visible))) continue;
    visible.push(turn.visible);
  }
  const note = ending === "complete" ? undefined : ending === "cut" ? CUT : ending.note;
  if (note !== undefined) visible.push(note);
  const text = visible.join("\n\n");
  return {
    text,
    silent: text === "",
    ...(note === undefined ? {} : { note }),
    ...(replyTo === undefined ? {} : { replyTo }),
  };
}

/** What people see of one turn, empty where it is silent, and the message it chose to answer. */
export function readTurn(text: string): { readonly visible: string; readonly replyTo?: string } {
  const { text: said, media, silent, replyTo } = parseReply(text);
  const lines = [said.trim(), ...media.map((one) => mediaLine(one))].filter((line) => line !== "");
  return {
    visible: silent ? "" : lines.join("\n"),
    ...(typeof replyTo === "object" ? { replyTo: replyTo.id } : {}),
  };
}

/** Cuts a reply into the parts a channel can take. */
export function outboundOf(text: string, replyTo: string | undefined, capabilities: Capabilities): Outbound {
  const type = capabilities.text.markup === "markdown" ? "markdown" : "text";
  const parts = chunkText(text, capabilities.text).map((part) => ({ type, text: part }) as const);
  return { parts, ...(replyTo === undefined || capabilities.threads === "none" ? {} : { replyTo }) };
}

/** Channels whose clients hold the gateway's own token: they read the conversation itself, and need no outbox. */
export const OWN_CHANNELS: ReadonlySet<string> = new Set(["web", "api"]);

/**
 * The answer to a message as the outbox keeps it; `undefined` where the sender reads the conversation itself. For an
 * account that is not configured any more it stays in one piece: it is to be seen among the replies that did not go out.
 */
export function answerTo(
  event: MessageEvent,
  text: string,
  replyTo: string,
  capabilities: Capabilities | undefined,
): Outbound | undefined {
  if (OWN_CHANNELS.has(event.channel)) return undefined;
  return capabilities === undefined
    ? { parts: [{ type: "text", text }], replyTo }
    : outboundOf(text, replyTo, capabilities);
}

/** Attachments are named until a channel can carry them. */
function mediaLine(media: string): string {
  return /^https?:\/\//.test(media) ? media : `[file: ${media}]`;
}

function sameText(a: string, b: string): boolean {
  const bare = (text: string): string => text.replace(/\s+/g, " ").trim();
  return bare(a) === bare(b);
}
