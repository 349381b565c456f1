import { createFenceTracker } from "@signalbox/channel";
import { parseReply, removeDirectives } from "./parse.ts";
import { createSilenceFilter } from "./silence.ts";

/** Filters the text of a model turn while it is being written. */
export interface VisibleText {
  /** Returns the text that can be shown now. Text that may still become a directive or a silent token is held back. */
  push(delta: string): string;
  /** Returns the held text, given the visible text of the whole turn. */
  end(visible: string): string;
}

/**
 * Creates a filter for one turn. The concatenated output is a prefix of the visible text of the whole turn, regardless
 * of how the turn is split.
 */
export function createVisibleText(): VisibleText {
  const silence = createSilenceFilter();
  const lines = createLineReader();
  /** A trailing carriage return, which may be half of a line break. */
  let carried = "";
  let emittedText = "";

  return {
    push(delta) {
      if (lines.wasMisread()) return "";
      const text = carried + delta;
      carried = text.endsWith("\r") ? "\r" : "";
      const whole = carried === "" ? text : text.slice(0, -1);
      const ready = lines.read(whole.replace(/\r\n?/g, "\n"));
      const visible = lines.wasMisread() ? "" : silence.push(ready);
      emittedText += visible;
      return visible;
    },
    end: (visible) => (visible.startsWith(emittedText) ? visible.slice(emittedText.length) : ""),
  };
}

/** Reads a text line by line while it arrives, and returns the text that certainly contains no directives. */
interface LineReader {
  read(text: string): string;
  /**
   * Returns true if text that was already returned turned out to be part of a directive. The rest is then only known at
   * the end of the turn.
   */
  wasMisread(): boolean;
}

const MAYBE_MEDIA = /^ {0,3}(?:M(?:E(?:D(?:I(?:A(?::.*)?)?)?)?)?)?$/;

function createLineReader(): LineReader {
  const fences = createFenceTracker();
  /** The current line. Below: the length of its returned part, and true if its line break was returned. */
  let line = "";
  let emitted = 0;
  let opened = false;
  /** True if another line precedes this one. */
  let follows = false;
  let misread = false;

  const emit = (text: string): string => {
    const lead = follows && !opened ? "\n" : "";
    opened = true;
    return lead + text;
  };
  /** Returns the rest of a complete line. */
  const finishLine = (): string => {
    let text = line;
    if (fences.read(line) === "text") {
      if (emitted === 0 && isMedia(line)) return "";
      if (line.includes("[[")) {
        text = removeDirectives(line);
        misread ||= !text.startsWith(line.slice(0, emitted));
      }
    }
    const rest = emit(text.slice(emitted));
    follows = true;
    return rest;
  };
  /** Returns the text of an incomplete line that is certain. */
  const readCertain = (): string => {
    let until = line.length;
    if (!fences.isOpen) {
      if (emitted === 0 && MAYBE_MEDIA.test(line)) return "";
      const directive = line.indexOf("[[", emitted);
      if (directive >= 0) until = directive;
      else if (line.endsWith("[")) until--;
    }
    if (until <= emitted) return "";
    const text = line.slice(emitted, until);
    emitted = until;
    return emit(text);
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
        emitted = 0;
        opened = false;
      }
      return ready + readCertain();
    },
  };
}

/** Also matches a directive with an empty source. */
function isMedia(line: string): boolean {
  return /^[ \t]*MEDIA:/.test(line) && parseReply(line).text === "";
}
