import { type Recording, readRecordings } from "@signalbox/testkit/wire";

/** A vendor's recorded streams and refusals. */
export interface Recorded {
  readonly streams: readonly Recording[];
  readonly refusals: readonly Recording[];
}

let everything: readonly Recording[] | undefined;

/** Unpacked and parsed once for all that ask: 8 MB. */
function allRecordings(): readonly Recording[] {
  everything ??= [readRecordings("vercel-ai"), readRecordings("pydantic-ai")].flatMap((file) => file ?? []);
  return everything;
}

/** Recordings whose request fits `want`; `undefined`, with a printed note, where the data is not beside the project. */
export function recorded(want: (recording: Recording) => boolean): Recorded | undefined {
  const all = allRecordings().filter(want);
  if (all.length === 0) {
    console.log("skipped: no recorded streams beside the project (../shared/wire)");
    return undefined;
  }
  return {
    streams: all.filter((one) => one.status === 200 && /event-stream/.test(one.ctype)),
    refusals: all.filter((one) => one.status >= 400),
  };
}

/** A recording's name in a test. */
export function titleOf(recording: Recording): string {
  return recording.src.replace(/^.*(?:__fixtures__|cassettes)\//, "");
}
