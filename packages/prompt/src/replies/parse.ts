import { createFenceTracker } from "@signalbox/channel";
import { SILENT_TOKEN, stripSilence } from "./silence.ts";

/** The content and directives of a model's final text. */
export interface ParsedReply {
  /** Text without directives and tokens. */
  readonly text: string;
  /** True if the reply must not be sent. */
  readonly silent: boolean;
  /** Paths or URLs to attach, in order, without duplicates. The host decides what may be attached. */
  readonly media: readonly string[];
  /** The message to reply to: the one being answered, or another one by id. */
  readonly replyTo?: "current" | { readonly id: string };
  /** True if attached audio is sent as a voice note. */
  readonly audioAsVoice: boolean;
}

/** Lines with more than three spaces of indentation are code. */
const MEDIA = /^ {0,3}MEDIA:[ \t]*(\S(?:.*\S)?)[ \t]*$/;
const DIRECTIVE = /\[\[[ \t]*(audio_as_voice|reply_to_current|reply_to:[ \t]*([^\]\s]+))[ \t]*\]\][ \t]?/g;

/**
 * Parses the directives of a final reply: `MEDIA:<path-or-url>` on a separate line, `[[reply_to_current]]`,
 * `[[reply_to:<id>]]` and `[[audio_as_voice]]`, except inside code. Only the first reply directive counts. A reply is
 * silent if it consists of the silent token, possibly in quotes or Markdown. As a first or last line the token is
 * removed, and anywhere else it is text.
 *
 * @example
 * ```ts
 * parseReply("[[reply_to_current]] Here it is.\nMEDIA: out/plot.png");
 * // { text: "Here it is.", silent: false, media: ["out/plot.png"], replyTo: "current", audioAsVoice: false }
 * ```
 */
export function parseReply(text: string): ParsedReply {
  const media: string[] = [];
  const lines: string[] = [];
  let replyTo: ParsedReply["replyTo"];
  let audioAsVoice = false;
  const fences = createFenceTracker();

  const note = (directive: string, id: string | undefined): void => {
    if (directive === "audio_as_voice") audioAsVoice = true;
    else replyTo ??= id === undefined ? "current" : { id };
  };

  for (const line of text.replace(/\r\n?/g, "\n").split("\n")) {
    if (fences.read(line) !== "text") {
      lines.push(line);
      continue;
    }
    const source = MEDIA.exec(line)?.[1];
    if (source !== undefined) {
      const path = unquote(source);
      if (path !== "" && path !== SILENT_TOKEN && !media.includes(path)) media.push(path);
      continue;
    }
    lines.push(removeDirectives(line, note));
  }

  const shown = stripSilence(lines.join("\n"));
  return {
    text: shown,
    silent: shown === "" && media.length === 0 && text.includes(SILENT_TOKEN),
    media,
    replyTo,
    audioAsVoice,
  };
}

/** Removes the directives from a line, except inside code, and reports each. */
export function removeDirectives(
  line: string,
  onDirective: (directive: string, id: string | undefined) => void = () => {},
): string {
  return changeOutsideCode(line, (part) =>
    part.replace(DIRECTIVE, (_match, directive: string, id: string | undefined) => {
      onDirective(directive, id);
      return "";
    }),
  );
}

/** Applies `change` to the text of a line outside code spans. */
function changeOutsideCode(line: string, change: (part: string) => string): string {
  const runs = [...line.matchAll(/`+/g)];
  const last = new Map(runs.map((run) => [run[0].length, run.index]));
  let out = "";
  let from = 0;
  let open: { readonly marks: number; readonly at: number } | undefined;
  for (const { 0: marks, index } of runs) {
    if (open === undefined) {
      if ((last.get(marks.length) ?? 0) > index) open = { marks: marks.length, at: index };
    } else if (open.marks === marks.length) {
      const end = index + marks.length;
      out += change(line.slice(from, open.at)) + line.slice(open.at, end);
      from = end;
      open = undefined;
    }
  }
  return out + change(line.slice(from));
}

function unquote(source: string): string {
  const inner = /^(["'])(.*)\1$/.exec(source)?.[2] ?? /^<(.*)>$/.exec(source)?.[1];
  return (inner ?? source).trim();
}
