import { createFenceTracker } from "@signalbox/channel";
import { SILENT_TOKEN, stripSilence } from "./silence.ts";

/** What a model's final text asks for. */
export interface ParsedReply {
  /** What to show, without directives and tokens. */
  readonly text: string;
  /** Nothing is to be sent. */
  readonly silent: boolean;
  /** Paths or URLs to attach, in order, each once. The host decides what may be attached. */
  readonly media: readonly string[];
  /** The message to reply to: the one being answered, or another by its id. */
  readonly replyTo?: "current" | { readonly id: string };
  /** Attached audio is to be sent as a voice note. */
  readonly audioAsVoice: boolean;
}

/** With more space before it, it is code. */
const MEDIA = /^ {0,3}MEDIA:[ \t]*(\S(?:.*\S)?)[ \t]*$/;
const DIRECTIVE = /\[\[[ \t]*(audio_as_voice|reply_to_current|reply_to:[ \t]*([^\]\s]+))[ \t]*\]\][ \t]?/g;

/**
 * Reads the directives of a final reply: `MEDIA:<path-or-url>` on a line of its own, `[[reply_to_current]]`,
 * `[[reply_to:<id>]]` and `[[audio_as_voice]]`, none of them inside code. The first reply directive counts. A reply
 * is silent when the silent token is all it holds (a wrapping of quotes or Markdown apart); a first or last line that
 * is the token is taken out, and anywhere else it is text.
 */
export function parseReply(text: string): ParsedReply {
  const media: string[] = [];
  const kept: string[] = [];
  let replyTo: ParsedReply["replyTo"];
  let audioAsVoice = false;
  const fences = createFenceTracker();

  const note = (directive: string, id: string | undefined): void => {
    if (directive === "audio_as_voice") audioAsVoice = true;
    else replyTo ??= id === undefined ? "current" : { id };
  };

  for (const line of text.replace(/\r\n?/g, "\n").split("\n")) {
    if (fences.read(line) !== "text") {
      kept.push(line);
      continue;
    }
    const source = MEDIA.exec(line)?.[1];
    if (source !== undefined) {
      const path = unquote(source);
      if (path !== "" && path !== SILENT_TOKEN && !media.includes(path)) media.push(path);
      continue;
    }
    kept.push(withoutDirectives(line, note));
  }

  const said = stripSilence(kept.join("\n"));
  return {
    text: said,
    silent: said === "" && media.length === 0 && text.includes(SILENT_TOKEN),
    media,
    ...(replyTo === undefined ? {} : { replyTo }),
    audioAsVoice,
  };
}

/** A line without the directives that stand in it outside code, each of which is told. */
export function withoutDirectives(
  line: string,
  onDirective: (directive: string, id: string | undefined) => void = () => {},
): string {
  return outsideCode(line, (part) =>
    part.replace(DIRECTIVE, (_match, directive: string, id: string | undefined) => {
      onDirective(directive, id);
      return "";
    }),
  );
}

/** Changes what is not between two runs of backticks of one length. */
function outsideCode(line: string, change: (part: string) => string): string {
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
