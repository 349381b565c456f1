import { type AgentMessage, type AssistantMessage, STOP_REASONS } from "@signalbox/agent-core";
import { parseReply } from "./parse.ts";

/** Attachments that a reply asks for. */
export interface WantedMedia {
  /** Paths or URLs, in order, each once. */
  readonly sources: readonly string[];
  /** Attached audio is to be sent as a voice note. */
  readonly voice: boolean;
}

/** The end of a run as the person is to see it. */
export interface Reply {
  /** What viewers and API clients get. */
  readonly text: string;
  readonly silent: boolean;
  /** The last part of the text, where it is about the end of the run and not the model's. */
  readonly note?: string;
  /** The message the model chose to answer; absent: the one that was asked. */
  readonly replyTo?: string;
  /** What is to be attached and is not named in the text. */
  readonly wanted?: WantedMedia;
}

/** How a run's text reads when it did not simply end. */
export type Ending = "complete" | { readonly note: string };

/**
 * The visible reply of a run: its texts in order, directives taken out, silence honoured, an unfinished end marked.
 * `alreadySent` are texts that the message tool has delivered to this conversation, and attachments as `mediaMark`
 * has them. `carries`: attachments can be sent, so that the text does not name them.
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
    const turn = readTurn(text);
    replyTo ??= turn.replyTo;
    voice ||= turn.voice;
    for (const source of carries ? turn.media : [])
      if (!alreadySent.includes(mediaMark(source))) sources.add(source);
    const words = carries ? turn.said : turn.visible;
    if (words === "" || alreadySent.some((sent) => sameText(sent, words))) continue;
    visible.push(words);
  }
  const note = ending === "complete" ? undefined : ending.note;
  if (note !== undefined) visible.push(note);
  const text = visible.join("\n\n");
  return {
    text,
    silent: text === "" && sources.size === 0,
    ...(sources.size === 0 ? {} : { wanted: { sources: [...sources], voice } }),
    ...(note === undefined ? {} : { note }),
    ...(replyTo === undefined ? {} : { replyTo }),
  };
}

/** One turn of a model as people are to have it. */
export interface ReadTurn {
  /** Its text with a line for each attachment, empty where it is silent. */
  readonly visible: string;
  /** Its text alone. */
  readonly said: string;
  readonly media: readonly string[];
  readonly voice: boolean;
  /** The message it chose to answer. */
  readonly replyTo?: string;
}

export function readTurn(text: string): ReadTurn {
  const { text: all, media, silent, replyTo, audioAsVoice: voice } = parseReply(text);
  const said = silent ? "" : all.trim();
  const lines = [said, ...media.map(mediaLine)].filter((line) => line !== "");
  return {
    visible: silent ? "" : lines.join("\n"),
    said,
    media: silent ? [] : media,
    voice,
    ...(typeof replyTo === "object" ? { replyTo: replyTo.id } : {}),
  };
}

/** How an attachment that was sent already is remembered among the texts. */
export function mediaMark(source: string): string {
  return `MEDIA:${source}`;
}

/** An attachment where none can be sent. */
function mediaLine(media: string): string {
  return /^https?:\/\//.test(media) ? media : `[file: ${media}]`;
}

function sameText(a: string, b: string): boolean {
  const bare = (text: string): string => text.replace(/\s+/g, " ").trim();
  return bare(a) === bare(b);
}

/** The words of a model turn that are meant for people. */
export function saidIn(message: AssistantMessage): string {
  return message.content
    .flatMap((block) => (block.type === "text" || block.type === "refusal" ? [block.text] : []))
    .join("");
}

/** What was said, one text a turn: a turn that goes on with a part of one is part of it. */
export function turnTexts(messages: readonly AgentMessage[]): string[] {
  const texts: string[] = [];
  let wasCut = false;
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    texts.push((wasCut ? (texts.pop() ?? "") : "") + saidIn(message));
    wasCut = STOP_REASONS[message.stopReason]?.text === "part";
  }
  return texts;
}
