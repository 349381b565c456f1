import type { AssistantMessage } from "@signalbox/agent-core";
import { describe, expect, test } from "vitest";
import { findCutProblem, summarizeAnswer } from "../src/testkit/cut.ts";
import type { ReadTurn, WireAnswer } from "../src/testkit/index.ts";
import { eventEnds } from "../src/testkit/wire.ts";
import { families } from "./support/families.ts";
import { recorded, titleOf } from "./support/recordings.ts";
import { accountAt, asker, cutPoints, type FinishedTurn, replay } from "./support/replay.ts";

/** A vendor's keep-alive, and its error event. */
const WORDS: Readonly<Record<string, { readonly alive: string; readonly failed: string }>> = {
  "anthropic-messages": {
    alive: 'event: ping\ndata: {"type": "ping"}\n\n: comment\n\n',
    failed:
      'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
  },
  "openai-responses": {
    alive: 'event: keepalive\ndata: {"type":"keepalive","sequence_number":7}\n\n: keep-alive\n\n',
    failed:
      'event: error\ndata: {"type":"error","code":"server_error","message":"Overloaded","param":null}\n\n',
  },
  "openai-chat": {
    alive: ": OPENROUTER PROCESSING\n\n",
    failed: 'data: {"error":{"message":"Overloaded","type":"server_error","code":503}}\n\n',
  },
  "mistral-chat": {
    alive: ": ping\n\n",
    failed:
      'data: {"object":"error","message":"Service unavailable.","type":"service_unavailable","code":"1100"}\n\n',
  },
  "google-generative": {
    alive: ": ping\r\n\r\n",
    failed:
      'data: {"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}\r\n\r\n',
  },
};

/** A few of many elements, including the first and the last. */
function some<T>(all: readonly T[], most: number): T[] {
  if (all.length <= most) return [...all];
  const picked = Array.from({ length: most }, (_, i) => all[Math.round((i * (all.length - 1)) / (most - 1))]);
  return picked.filter((one) => one !== undefined);
}

/** The parts on which two readings of the same stream have to agree. */
function essence({ message }: ReadTurn): Omit<AssistantMessage, "error"> {
  const { error: _, ...rest } = message;
  return rest;
}

const wordsOf = ({ message }: ReadTurn, type: "text" | "thinking" | "refusal"): string =>
  message.content.map((block) => (block.type === type ? block.text : "")).join("");

const callsOf = ({ message }: ReadTurn) =>
  message.content.flatMap((block) =>
    block.type === "toolCall" ? [{ name: block.name, args: block.args }] : [],
  );

const SPOKEN = ["text", "thinking", "refusal"] as const;

/**
 * A disturbed stream has to give the same result as the whole, or fail with what had arrived by then.
 * @param upTo the result of the stream up to the disturbance
 */
function expectSound(turn: FinishedTurn, told: FinishedTurn, upTo: FinishedTurn): void {
  expect(findCutProblem(turn, summarizeAnswer(told))).toBeUndefined();
  const { usage, ...finished } = essence(turn);
  if (turn.terminal.type === "finish") {
    const { usage: reported, stopReason, rawStopReason, ...whole } = essence(told);
    expect(finished).toMatchObject(whole);
    // A failure that is reported after the last word may be missed.
    if (told.terminal.type === "finish") expect(finished).toEqual({ ...whole, stopReason, rawStopReason });
    // A usage that is reported after the last word may be missed. It is estimated then.
    if (usage?.source === "estimated") expect(usage).toEqual(upTo.message.usage);
    else expect(usage).toEqual(reported);
    return;
  }
  if (told.terminal.type === "error") return;
  const { content } = finished;
  const had = upTo.message.content;
  expect(content).toEqual(had.slice(0, content.length));
  // After the finish reason, the end of the stream would have completed the answer, which may add citations and
  // refusals.
  const added = had.slice(content.length).filter((block) => !["citation", "refusal"].includes(block.type));
  if (upTo.terminal.type === "error") expect(had).toHaveLength(content.length);
  else expect(added).toEqual([]);
  expect(finished.responseId).toBe(upTo.message.responseId);
  for (const type of SPOKEN) expect(wordsOf(told, type).startsWith(wordsOf(turn, type)), type).toBe(true);
}

/** Formats whose first event only starts the answer, and may be repeated. */
const STARTS: ReadonlySet<string> = new Set(["anthropic-messages", "openai-responses"]);

/** Formats in which a call is one event without a number, so that a repetition is a second call. */
const WHOLE_CALLS: ReadonlySet<string> = new Set(["google-generative"]);

/**
 * A repeated first event without content means nothing. With text, the text is repeated, since no format numbers it. A
 * repeated call is the same call if calls have numbers.
 */
function expectSaidTwice(twice: FinishedTurn, told: FinishedTurn, first: FinishedTurn, api: string): void {
  const { content: _, ...rest } = essence(twice);
  const { content: __, ...whole } = essence(told);
  expect(rest).toEqual(whole);
  const calls = WHOLE_CALLS.has(api) ? callsOf(first) : [];
  const opaque = WHOLE_CALLS.has(api) && first.message.content.some((block) => block.type === "opaque");
  const says = calls.length > 0 || opaque || SPOKEN.some((type) => wordsOf(first, type) !== "");
  if (STARTS.has(api)) expect(says).toBe(false);
  if (!says) expect(essence(twice)).toEqual(essence(told));
  for (const type of SPOKEN) expect(wordsOf(twice, type)).toBe(wordsOf(first, type) + wordsOf(told, type));
  expect(callsOf(twice)).toEqual([...calls, ...callsOf(told)]);
}

const everything = recorded(() => true);

test.skipIf(everything === undefined)("every recording belongs to one wire format", () => {
  for (const one of [...(everything?.streams ?? []), ...(everything?.refusals ?? [])])
    expect(families.filter((family) => family.speaks(one)).length, `${one.host}${one.path}`).toBe(1);
});

describe
  .skipIf(everything === undefined)
  .each(families.map((family) => [family.provider.api, family] as const))("%s", (api, family) => {
  const { streams, refusals } = recorded(family.speaks) ?? { streams: [], refusals: [] };
  const { alive, failed } = WORDS[api] ?? { alive: "", failed: "" };

  test.skipIf(streams.length === 0).each(streams.map((one) => [titleOf(one), one] as const))(
    "%s",
    async (_, recording) => {
      const bytes = Buffer.from(recording.res);
      const ends = eventEnds(bytes);
      const account = accountAt(family, recording.host);
      const ask = asker(account);
      const told = await ask({ pieces: [bytes] });
      const whole = summarizeAnswer(told);
      if (whole.failed) expect(told.terminal).not.toMatchObject({ error: { code: "timeout" } });
      const between = (at: number, words: string): WireAnswer => ({
        pieces: [bytes.subarray(0, at), Buffer.from(words), bytes.subarray(at)],
      });

      const kept = ends.flatMap((end, i) => [bytes.subarray(ends[i - 1] ?? 0, end), Buffer.from(alive)]);
      const rest = bytes.subarray(ends.at(-1) ?? 0);
      const living = await ask({ pieces: [Buffer.from(alive), ...kept, rest] });
      expect(living.message).toEqual(told.message);

      for (const at of some(ends.slice(0, -1), 4)) {
        const noisy = await ask(between(at, "data: {<html> not json\n\n"));
        const upTo = await ask({ pieces: [bytes.subarray(0, at)] });
        expectSound(noisy, told, upTo);
        if (noisy.terminal.type === "error" && !whole.failed)
          expect(noisy.terminal.error).toMatchObject({ code: "protocol", retryable: true });

        const cut = await ask({
          pieces: [bytes.subarray(0, at), Buffer.from(failed)],
        });
        expectSound(cut, told, upTo);
        if (cut.terminal.type === "error" && !whole.failed)
          expect(cut.terminal.error).toMatchObject({ code: "overloaded", retryable: true });
      }

      const pieces = [bytes.subarray(0, ends[Math.floor(ends.length / 2)] ?? 0)];
      const impatient = { ...account, timeouts: { firstByteMs: 5, idleMs: 5 } };
      const half = await replay(impatient, { pieces, ending: "stall" });
      expectSound(half, told, await ask({ pieces }));
      if (half.terminal.type === "error" && !whole.failed) expect(half.terminal.error.code).toBe("timeout");

      const twice = await ask({ pieces: [bytes.subarray(0, ends[0] ?? 0), bytes] });
      const first = await ask({ pieces: [bytes.subarray(0, ends[0] ?? 0)] });
      expect(twice.error).toEqual(told.error);
      expectSaidTwice(twice, told, first, api);

      for (const [i, at] of cutPoints(bytes).entries()) {
        const ending = i % 2 === 0 ? "end" : "break";
        const broken = await ask({ pieces: [bytes.subarray(0, at)], ending });
        expect(findCutProblem(broken, whole), `cut at byte ${at}`).toBeUndefined();
      }
    },
  );

  test.skipIf(refusals.length === 0).each(refusals.map((one) => [titleOf(one), one] as const))(
    "refusal %s",
    async (_, { host, status, ctype, res }) => {
      const pieces = [Buffer.from(res)];
      const { error } = await replay(accountAt(family, host), {
        status,
        headers: { "content-type": ctype },
        pieces,
      });
      expect(error).toMatchObject({
        status,
        emitted: false,
        code: status === 429 ? "rate_limit" : expect.stringMatching(/^(?:invalid|overflow|auth|filter)$/),
      });
      expect(error?.message).not.toBe("");
    },
  );
});
