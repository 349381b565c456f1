import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Script, ScriptedTurn } from "./script.ts";

/** Returns the turns of a script one by one. */
export interface TurnReader {
  /** Returns the next turn. Rejects if an array of turns is used up. */
  next(request: unknown): Promise<ScriptedTurn>;
}

/** Creates a reader for a script. */
export function readTurns(script: Script): TurnReader {
  let index = 0;
  return {
    async next(request) {
      const at = index++;
      if (typeof script === "function") return await script(request, at);
      const turn = script[at];
      if (!turn) throw new Error(`the script has ${script.length} turns and was asked for one more`);
      return turn;
    },
  };
}

/** Splits `text` into at most `count` pieces of about equal length, never inside a surrogate pair. */
export function pieces(text: string, count = 4): string[] {
  const size = Math.max(1, Math.ceil(text.length / Math.max(1, count)));
  const out: string[] = [];
  for (let at = 0; at < text.length; ) {
    let end = Math.min(text.length, at + size);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end++;
    out.push(text.slice(at, end));
    at = end;
  }
  return out;
}

/** Estimates the tokens of a text as four characters each, for usage figures and overflow checks. */
export function roughTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

/** Vendor-specific parts of a stream. */
export interface SseWire {
  readonly headers?: Readonly<Record<string, string>>;
  /** Frames for a scripted error in the stream. */
  readonly errorFrames: readonly string[];
}

/** Streams `frames` with the turn's delays and faults. Without delays and faults, everything is sent in one write. */
export async function playFrames(
  response: ServerResponse,
  frames: readonly string[],
  turn: ScriptedTurn,
  wire: SseWire,
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  if (turn.delayMs) await sleep(turn.delayMs, undefined, { signal: gone.signal }).catch(() => {});
  if (gone.signal.aborted) return;
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", ...wire.headers });
  const faultAt = turn.fault?.afterEvents ?? Number.POSITIVE_INFINITY;
  const errorAt = turn.error?.afterEvents ?? Number.POSITIVE_INFINITY;
  const end = Math.min(frames.length, faultAt, errorAt);
  if (turn.deltaMs || turn.pace !== undefined) {
    for (const [event, frame] of frames.slice(0, end).entries()) {
      await turn.pace?.(event);
      response.write(frame);
      if (turn.deltaMs) await sleep(turn.deltaMs, undefined, { signal: gone.signal }).catch(() => {});
      if (gone.signal.aborted) return;
    }
  } else if (turn.fault === undefined) {
    response.end(
      frames
        .slice(0, end)
        .concat(errorAt === end ? wire.errorFrames : [])
        .join(""),
    );
    return;
  } else if (end > 0) {
    await new Promise<void>((resolve) => response.write(frames.slice(0, end).join(""), () => resolve()));
  }
  if (errorAt === end) response.end(wire.errorFrames.join(""));
  else if (turn.fault?.kind === "cut") response.destroy();
  else if (turn.fault?.kind === "garbage")
    response.end('data: {"\u0000garbage\n\n\u0001\u0002 not a stream\n\n');
  else if (turn.fault === undefined) response.end();
}
