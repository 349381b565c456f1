import { createFenceTracker } from "@signalbox/channel";
import { parseReply, withoutDirectives } from "./parse.ts";
import { createSilenceFilter } from "./silence.ts";

/** The part of a model turn's text that people may see, returned while the model still writes. */
export interface VisibleText {
  /** What can be shown now: nothing that may yet turn out to be a directive or a silent token. */
  push(delta: string): string;
  /** What was held back; `visible` is what the whole turn comes to. */
  end(visible: string): string;
}

/** However a turn is cut into deltas, what comes out, joined, begins what `parseReply` makes of the whole. */
export function createVisibleText(): VisibleText {
  const silence = createSilenceFilter();
  const lines = createLineReader();
  /** A carriage return that may be half of a line break. */
  let carried = "";
  let out = "";

  return {
    push(delta) {
      if (lines.wasMisread()) return "";
      const text = carried + delta;
      carried = text.endsWith("\r") ? "\r" : "";
      const whole = carried === "" ? text : text.slice(0, -1);
      const ready = lines.read(whole.replace(/\r\n?/g, "\n"));
      const visible = lines.wasMisread() ? "" : silence.push(ready);
      out += visible;
      return visible;
    },
    end: (visible) => (visible.startsWith(out) ? visible.slice(out.length) : ""),
  };
}

/** Reads a text that arrives in pieces line by line, and gives out what of it is certain to be no directive. */
interface LineReader {
  read(text: string): string;
  /** What was given out of a line turned out to read otherwise: from there on the end of the turn has to tell. */
  wasMisread(): boolean;
}

const MAYBE_MEDIA = /^ {0,3}(?:M(?:E(?:D(?:I(?:A(?::.*)?)?)?)?)?)?$/;

function createLineReader(): LineReader {
  const fences = createFenceTracker();
  /** The line being written, how much of it is out, and whether its line break is. */
  let line = "";
  let given = 0;
  let opened = false;
  /** Whether a line stands before this one. */
  let below = false;
  let misread = false;

  const give = (text: string): string => {
    const lead = below && !opened ? "\n" : "";
    opened = true;
    return lead + text;
  };
  /** The rest of a complete line. */
  const finishLine = (): string => {
    let text = line;
    if (fences.read(line) === "text") {
      if (given === 0 && isMedia(line)) return "";
      if (line.includes("[[")) {
        text = withoutDirectives(line);
        misread ||= !text.startsWith(line.slice(0, given));
      }
    }
    const rest = give(text.slice(given));
    below = true;
    return rest;
  };
  /** What of an unfinished line is certain. */
  const partOfLine = (): string => {
    let until = line.length;
    if (!fences.isOpen) {
      if (given === 0 && MAYBE_MEDIA.test(line)) return "";
      const directive = line.indexOf("[[", given);
      if (directive >= 0) until = directive;
      else if (line.endsWith("[")) until--;
    }
    if (until <= given) return "";
    const text = line.slice(given, until);
    given = until;
    return give(text);
  };
  return {
    wasMisread: () => misread,
    read(text) {
      let ready = "";
      const [first = "", ...others] = text.split("\n");
      line += first;
      for (const next of others) {
        ready += finishLine();
        line = next;
        given = 0;
        opened = false;
      }
      return ready + partOfLine();
    },
  };
}

/** Also one whose source is empty, of which nothing is left. */
function isMedia(line: string): boolean {
  return /^[ \t]*MEDIA:/.test(line) && parseReply(line).text === "";
}
