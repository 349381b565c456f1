import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";

/** Number of bytes at the end of the file to search for the last lines. */
const TAIL_BYTES = 4 * 1_048_576;

/** Reads the lines of one file as they are written. */
export interface LogReader {
  /** Returns complete lines added since the last call. */
  read(): string[];
  /** Returns true if the log was rotated. */
  isReplaced(file: string): boolean;
  close(): void;
}

/** Opens a log file near its end. Returns undefined if it does not exist. */
export function openLog(file: string): LogReader | undefined {
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return undefined;
  const descriptor = openSync(file, "r");
  const { ino, size } = fstatSync(descriptor);
  let offset = Math.max(0, size - TAIL_BYTES);
  let isCut = offset > 0;
  let rest = Buffer.alloc(0);
  return {
    read() {
      const bytes = Buffer.alloc(Math.max(0, fstatSync(descriptor).size - offset));
      offset += readSync(descriptor, bytes, 0, bytes.length, offset);
      const text = Buffer.concat([rest, bytes]);
      const end = text.lastIndexOf(10) + 1;
      rest = text.subarray(end);
      const lines = text.subarray(0, end).toString("utf8").split("\n").slice(0, -1);
      const from = isCut && lines.length > 0 ? 1 : 0;
      if (lines.length > 0) isCut = false;
      return lines.slice(from);
    },
    isReplaced: (name) => statSync(name, { throwIfNoEntry: false })?.ino !== ino,
    close: () => closeSync(descriptor),
  };
}
