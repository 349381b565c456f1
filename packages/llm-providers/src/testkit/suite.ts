import assert from "node:assert/strict";
import type { AssistantMessage, ModelEvent } from "@signalbox/agent-core";
import { checkEvents, type ReadTurn, readTurn } from "./check.ts";
import { type Whole, wholeOf, wrongWithCut } from "./cut.ts";
import { type ProviderSubject, type RecordedStream, Subject, within } from "./subject.ts";
import { bytewise, cutPlaces, eventEnds } from "./wire.ts";

/** What the suite needs of a test runner; vitest's, node:test's and jest's functions all fit. */
export interface TestApi {
  describe(name: string, body: () => void): void;
  it(name: string, body: () => Promise<void>): void;
}

const encoder = new TextEncoder();
const bytesOf = (body: string | Uint8Array): Uint8Array =>
  typeof body === "string" ? encoder.encode(body) : body;
const DENSE = 4_096;
const STRIDE = 61;
/** How the wire ends at a cut: either way in turn, and both ways around the end of an event. */
const ENDINGS = ["end", "break"] as const;

/** Of a small recording, wherever it comes out differently; of a large one around its events, and a sample. */
function cutsOf(bytes: Uint8Array, everyByte: boolean): number[] {
  if (everyByte) return [...bytes.keys()];
  if (bytes.length <= DENSE) return cutPlaces(bytes);
  const cuts = new Set<number>();
  const add = (at: number): void => {
    if (at >= 0 && at < bytes.length) cuts.add(at);
  };
  for (const end of eventEnds(bytes)) for (let near = -3; near <= 1; near++) add(end + near);
  for (let at = 0; at < bytes.length; at += STRIDE) add(at);
  for (let at = 0; at < bytes.length && cuts.size < DENSE; at++) if ((bytes[at] ?? 0) >= 0x80) add(at);
  return [...cuts].sort((a, b) => a - b);
}

/** What two readings of the same stream have to agree on; `config.now` is an adapter's to pass on or not. */
function essence(turn: ReadTurn): Omit<AssistantMessage, "error" | "timestamp"> {
  const { error: _, timestamp: __, ...rest } = turn.message;
  return rest;
}

const WRONG = {
  less: "it passes for a whole answer and is none",
  partialCall: "a broken answer asks for its tools to be run, or has a call ready that was never finished",
};

/** A broken answer may keep whole calls, but must neither ask for them to be run nor pass for the whole. */
function assertSound(turn: ReadTurn, whole: Whole, where: string): void {
  const wrong = wrongWithCut(turn, whole);
  if (wrong !== undefined) assert.fail(`${where}: ${WRONG[wrong]}`);
}

/** Turns of the event loop in which an aborted turn ends: a few milliseconds where there is nothing else to do. */
const ABORT_TURNS = 50;

/** Goes through as many turns of the event loop as an abort may take, or fewer where it is over by then. */
async function turnsOfTheLoop(isOver: () => boolean): Promise<void> {
  for (let turn = 0; turn < ABORT_TURNS && !isOver(); turn++) await new Promise(setImmediate);
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise(setImmediate);
}

function saysOf(turn: ReadTurn): Required<NonNullable<RecordedStream["says"]>> {
  const { content } = turn.message;
  return {
    text: content.map((block) => (block.type === "text" ? block.text : "")).join(""),
    calls: content.flatMap((block) =>
      block.type === "toolCall" && block.args !== undefined ? [{ name: block.name, args: block.args }] : [],
    ),
  };
}

/**
 * The tests every provider has to pass: its recorded streams whole and in pieces, cut, stalled, garbled and
 * interrupted, and what it does with refusals, aborts and a consumer that leaves. Nothing leaves the process; the
 * vendor's own SDK runs over a `fetch` that the suite provides.
 */
export function providerSuite({ describe, it }: TestApi, subject: ProviderSubject): void {
  const under = new Subject(subject);

  describe(`provider ${subject.provider.api}`, () => {
    for (const recording of subject.recordings)
      describe(recording.name, () => {
        const recorded = { it, under, subject, recording, bytes: bytesOf(recording.body) };
        testReading(recorded);
        testCuts(recorded);
        testNoise(recorded);
        testVendorsError(recorded);
        testAbort(recorded);
      });
    testConnection({ it, under, subject });
    testAnswers({ it, under, subject });
  });
}

/** What the tests are of. */
interface Tested {
  readonly it: TestApi["it"];
  readonly under: Subject;
  readonly subject: ProviderSubject;
}

interface TestedRecording extends Tested {
  readonly recording: RecordedStream;
  readonly bytes: Uint8Array;
}

/** The whole stream, however its bytes arrive. */
function testReading({ it, under, subject, recording, bytes }: TestedRecording): void {
  it("reads whole", async () => {
    const turn = await under.read({ pieces: [bytes] });
    assert.equal(
      turn.error === undefined ? "finish" : "error",
      recording.ends ?? "finish",
      turn.error?.message ?? "finished",
    );
    const { says } = recording;
    if (says?.text !== undefined) assert.equal(saysOf(turn).text, says.text);
    if (says?.calls !== undefined) assert.deepEqual(saysOf(turn).calls, says.calls);
  });

  it("reads the same in single bytes", async () => {
    const whole = await under.read({ pieces: [bytes] });
    const turn = await under.read({ pieces: bytewise(bytes) });
    assert.deepEqual(essence(turn), essence(whole));
  });

  it("takes no notice of keep-alives", async () => {
    const whole = await under.read({ pieces: [bytes] });
    const alive = bytesOf(subject.keepAlive);
    const pieces: Uint8Array[] = [alive];
    let from = 0;
    for (const end of eventEnds(bytes)) {
      pieces.push(bytes.subarray(from, end), alive);
      from = end;
    }
    pieces.push(bytes.subarray(from));
    assert.deepEqual(essence(await under.read({ pieces })), essence(whole));
  });
}

/** A stream that ends or stands still before its end. */
function testCuts({ it, under, subject, bytes }: TestedRecording): void {
  it("ends once wherever it is cut, and runs nothing then", async () => {
    const read = under.reader();
    const whole = wholeOf(await read({ pieces: [bytes] }));
    const edges = new Set(eventEnds(bytes));
    for (const cut of cutsOf(bytes, subject.everyByte === true)) {
      const near = edges.has(cut) || edges.has(cut + 1);
      for (const ending of near ? ENDINGS : ENDINGS.slice(cut % 2, (cut % 2) + 1)) {
        const turn = await read({ pieces: [bytes.subarray(0, cut)], ending }).catch((error: unknown) => {
          throw new Error(`cut at byte ${cut} (${ending})`, { cause: error });
        });
        assertSound(turn, whole, `cut at byte ${cut} (${ending})`);
      }
    }
  });

  it("is told of a stall, wherever it comes", async () => {
    const whole = wholeOf(await under.read({ pieces: [bytes] }));
    const ends = eventEnds(bytes);
    const middle = Math.floor(bytes.length / 2);
    const stalls = new Set([0, ends[0] ?? 0, middle, ends.at(-3) ?? 0, ends.at(-2) ?? 0]);
    const stall = async (at: number): Promise<void> => {
      const { line, events } = under.open(
        { pieces: at === 0 ? [] : [bytes.subarray(0, at)], ending: "stall" },
        { timeouts: { firstByteMs: 30, idleMs: 30 } },
      );
      const turn = await within("a turn whose server is silent", readTurn(events), subject.hungMs);
      const where = `silent from byte ${at} on`;
      // Its vendor may have said everything by then, of a failure too.
      assertSound(turn, whole, where);
      if (turn.error !== undefined && !(whole.failed && wholeOf(turn).said === whole.said)) {
        assert.equal(turn.error.code, "timeout", where);
        assert.ok(line.closed, `${where}: the connection was left open`);
      }
    };
    await Promise.all([...stalls].map(stall));
  });
}

/** What is no part of the stream, or comes again. */
function testNoise({ it, under, bytes }: TestedRecording): void {
  it("survives garbage between its events", async () => {
    const read = under.reader();
    const whole = wholeOf(await read({ pieces: [bytes] }));
    const noise = bytesOf('data: {"type": <html>\u0000 not json\n\n');
    for (const end of eventEnds(bytes).slice(0, -1)) {
      const turn = await read({ pieces: [bytes.subarray(0, end), noise, bytes.subarray(end)] });
      assertSound(turn, whole, `garbage after byte ${end}`);
    }
  });

  it("survives a first event that comes twice", async () => {
    const first = eventEnds(bytes)[0] ?? 0;
    // A first event that says something already is no start: its repetition is only a repetition.
    const whole = wholeOf(await under.read({ pieces: [bytes] }));
    const without = wholeOf(await under.read({ pieces: [bytes.subarray(first)] }));
    if (without.said !== whole.said) return;
    const turn = await under.read({ pieces: [bytes.subarray(0, first), bytes] });
    assertSound(turn, whole, "a first event that came twice");
  });
}

function testVendorsError({ it, under, subject, recording, bytes }: TestedRecording): void {
  const { errorEvent } = subject;
  if (errorEvent !== undefined && recording.ends !== "error")
    it("ends with the vendor's error in mid-stream", async () => {
      const read = under.reader();
      const whole = wholeOf(await read({ pieces: [bytes] }));
      const ends = eventEnds(bytes);
      for (const end of ends.slice(0, Math.max(1, ends.length - 3))) {
        const turn = await read({ pieces: [bytes.subarray(0, end), bytesOf(errorEvent)] });
        assert.equal(
          turn.error?.code,
          "overloaded",
          `after byte ${end}: ${turn.error?.message ?? "no error"}`,
        );
        assert.equal(turn.error?.retryable, true);
        assertSound(turn, whole, `an error after byte ${end}`);
      }
    });
}

function testAbort({ it, under, subject, bytes }: TestedRecording): void {
  it("ends at once when it is aborted, and gives the connection up", async () => {
    const abort = new AbortController();
    const cut = eventEnds(bytes)[0] ?? 1;
    const { line, events } = under.open(
      { pieces: [bytes.subarray(0, cut)], ending: "stall" },
      {},
      abort.signal,
    );
    const seen: ModelEvent[] = [];
    let over = false;
    const read = async (): Promise<void> => {
      for await (const event of events) seen.push(event);
      over = true;
    };
    const reading = read();
    await within(
      "asking",
      until(() => line.requests.length > 0),
      subject.hungMs,
    );
    await turnsOfTheLoop(() => over);
    abort.abort();
    await turnsOfTheLoop(() => over);
    assert.ok(over, `an aborted turn was not over within ${ABORT_TURNS} turns of the event loop`);
    await within("a turn that was aborted", reading, subject.hungMs);
    const turn = checkEvents(seen);
    assert.equal(turn.error?.code, "aborted");
    assert.equal(turn.message.stopReason, "aborted");
    assert.ok(line.closed, "the connection was left open");
  });
}

/** Requests that are not made, fail, or are given up. */
function testConnection({ it, under, subject }: Tested): void {
  it("asks for nothing before somebody listens", async () => {
    const { line, events } = under.open({ pieces: [] });
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(line.requests.length, 0);
    await events[Symbol.asyncIterator]().return?.();
    assert.equal(line.requests.length, 0);
  });

  it("gives the connection up when the consumer leaves", async () => {
    const [recording] = subject.recordings;
    const bytes = bytesOf(recording?.body ?? "");
    const cut = eventEnds(bytes)[0] ?? 1;
    const { line, events } = under.open({ pieces: [bytes.subarray(0, cut)], ending: "stall" });
    const leave = async (): Promise<void> => {
      for await (const event of events) if (event.type === "start") break;
    };
    await within("leaving a turn", leave(), subject.hungMs);
    await within(
      "closing the connection",
      until(() => line.closed),
      subject.hungMs,
    );
  });

  it("asks for nothing when it was aborted before", async () => {
    const { line, events } = under.open({ pieces: [] }, {}, AbortSignal.abort());
    const turn = await within("a turn that was aborted before", readTurn(events), subject.hungMs);
    assert.equal(turn.error?.code, "aborted");
    assert.equal(line.requests.length, 0);
  });

  it("ends with a network failure when nobody answers", async () => {
    const refused = async (): Promise<Response> => {
      const cause = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
      throw new TypeError("fetch failed", { cause });
    };
    const turn = await under.read({ pieces: [] }, { fetch: refused });
    assert.equal(turn.error?.code, "network");
    assert.equal(turn.error?.retryable, true);
    assert.equal(turn.error?.emitted, false);
  });
}

/** Answers that are no recordings. */
function testAnswers({ it, under, subject }: Tested): void {
  const { empty } = subject;
  if (empty !== undefined)
    it("finishes an answer without content", async () => {
      const turn = await under.read({ pieces: [bytesOf(empty)] });
      assert.equal(turn.error, undefined);
      assert.equal(turn.message.content.map((block) => ("text" in block ? block.text : "x")).join(""), "");
    });

  for (const refusal of subject.refusals ?? [])
    it(`understands a refusal: ${refusal.name}`, async () => {
      const { status, headers, body, code, retryAfterMs } = refusal;
      const turn = await under.read({
        status,
        headers: { "content-type": "application/json", ...headers },
        pieces: [bytesOf(body)],
      });
      assert.equal(turn.error?.code, code, turn.error?.message ?? "no error");
      assert.equal(turn.error?.status, status);
      assert.equal(turn.error?.emitted, false);
      if (retryAfterMs !== undefined) assert.equal(turn.error?.retryAfterMs, retryAfterMs);
    });
}
