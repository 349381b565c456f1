import { type AgentMessage, type AssistantMessage, STOP_REASONS } from "@signalbox/agent-core";
import { parseReply } from "./parse.ts";

/** Attachments requested by a reply. */
interface ReplyMedia {
  /** Paths or URLs in order, without duplicates. */
  readonly sources: readonly string[];
  /** True if attached audio is sent as a voice note. */
  readonly voice: boolean;
}

/** The reply of a run in the form in which people see it. */
export interface Reply {
  /** Text for viewers and API clients. */
  readonly text: string;
  readonly silent: boolean;
  /** True if the model wrote nothing for people, but did not choose to be silent. */
  readonly empty?: boolean;
  /** The last paragraph of the text, if it is a note about the end of the run and was not written by the model. */
  readonly note?: string;
  /** Id of the message to which the reply refers. Absent for the message that was answered. */
  readonly replyTo?: string;
  /** Attachments that are sent with the reply and not mentioned in the text. */
  readonly media?: ReplyMedia;
}

/** The end of a reply: it is complete, or has a note about the end of the run. */
export type Ending = "complete" | { readonly note: string };

/**
 * Composes the visible reply of a run from the texts of its turns: removes directives and silent turns, and appends a
 * note if the run did not end normally.
 *
 * @param alreadySent texts that the message tool has delivered to this conversation, and attachments as `getMediaMark`
 * returns them
 * @param carries true if attachments can be sent, so that the text does not mention them
 */
export function composeReply(
  texts: readonly string[],
  ending: Ending,
  alreadySent: readonly string[],
  carries = false,
): Reply {
  const visible: string[] = [];
  const sources = new Set<string>();
  let voice = false;
  let replyTo: string | undefined;
  for (const text of texts) {
    const turn = parseTurn(text);
    replyTo ??= turn.replyTo;
    voice ||= turn.voice;
    for (const source of carries ? turn.media : [])
      if (!alreadySent.includes(getMediaMark(source))) sources.add(source);
    const words = carries ? turn.text : turn.visible;
    if (words === "" || alreadySent.some((sent) => isSameText(sent, words))) continue;
    visible.push(words);
  }
  const note = ending === "complete" ? undefined : ending.note;
  if (note !== undefined) visible.push(note);
  const text = visible.join("\n\n");
  return {
    text,
    silent: text === "" && sources.size === 0,
    media: sources.size === 0 ? undefined : { sources: [...sources], voice },
    note,
    replyTo,
  };
}

/**
 * A character that people can see. Some models answer with invisible ones, which platforms reject as an empty message.
 */
const VISIBLE = /[^\s\p{Cc}\p{Cf}\p{M}\u115f\u1160\u2800\u3164]/u;

/** A model turn in the form in which people see it. */
export interface ParsedTurn {
  /** Text with a line for each attachment. Empty if the turn is silent. */
  readonly visible: string;
  /** Text without attachments. */
  readonly text: string;
  readonly media: readonly string[];
  readonly voice: boolean;
  /** Id of the message that the turn replies to. */
  readonly replyTo?: string;
}

export function parseTurn(text: string): ParsedTurn {
  const { text: all, media, silent, replyTo, audioAsVoice: voice } = parseReply(text);
  const words = silent || !VISIBLE.test(all) ? "" : all.trim();
  const lines = [words, ...media.map(formatMedia)].filter((line) => line !== "");
  return {
    visible: silent ? "" : lines.join("\n"),
    text: words,
    media: silent ? [] : media,
    voice,
    replyTo: typeof replyTo === "object" ? replyTo.id : undefined,
  };
}

/** Returns the marker of an attachment in the list of texts that were already sent. */
export function getMediaMark(source: string): string {
  return `MEDIA:${source}`;
}

/** Formats a mention of an attachment that cannot be sent. */
function formatMedia(media: string): string {
  return /^https?:\/\//.test(media) ? media : `[file: ${media}]`;
}

function isSameText(a: string, b: string): boolean {
  const bare = (text: string): string => text.replace(/\s+/g, " ").trim();
  return bare(a) === bare(b);
}

/** Returns the text of a turn for people, including refusals. */
export function getTurnText(message: AssistantMessage): string {
  return message.content
    .flatMap((block) => (block.type === "text" || block.type === "refusal" ? [block.text] : []))
    .join("");
}

/** Returns one text per model turn. A turn that continues a truncated one is appended to its text. */
export function getTurnTexts(messages: readonly AgentMessage[]): string[] {
  const texts: string[] = [];
  let isTruncated = false;
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    texts.push((isTruncated ? (texts.pop() ?? "") : "") + getTurnText(message));
    isTruncated = STOP_REASONS[message.stopReason]?.text === "part";
  }
  return texts;
}
