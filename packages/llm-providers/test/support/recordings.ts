import { type Recording, readRecordings } from "@signalbox/testkit/wire";

/** A vendor's recorded streams and refusals. */
export interface Recorded {
  readonly streams: readonly Recording[];
  readonly refusals: readonly Recording[];
}

let everything: readonly Recording[] | undefined;

/** Parsed once for all callers: 8 MB. */
function allRecordings(): readonly Recording[] {
  everything ??= [readRecordings("vercel-ai"), readRecordings("pydantic-ai")].flatMap((file) => file ?? []);
  return everything;
}

/** Returns recordings by their request, or `undefined` with a printed note if the data is missing. */
export function recorded(want: (recording: Recording) => boolean): Recorded | undefined {
  const all = allRecordings().filter(want);
  if (all.length === 0) {
    console.log("skipped: recorded streams are replayed only if SIGNALBOX_RECORDINGS is set");
    return undefined;
  }
  return {
    streams: all.filter((one) => one.status === 200 && /event-stream/.test(one.ctype)),
    refusals: all.filter((one) => one.status >= 400),
  };
}

/** The name of a recording in tests. */
export function titleOf(recording: Recording): string {
  return recording.src.replace(/^.*(?:__fixtures__|cassettes)\//, "");
}
