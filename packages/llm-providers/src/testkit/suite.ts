import assert from "node:assert/strict";
import { type AssistantMessage, type ModelEvent, textOf } from "@signalbox/agent-core";
import { checkEvents, type ReadTurn, readTurn } from "./check.ts";
import { type AnswerSummary, findCutProblem, summarizeAnswer } from "./cut.ts";
import { type ProviderSubject, type RecordedStream, Subject } from "./subject.ts";
import { cutPlaces, eventEnds } from "./wire.ts";

/** The functions of a test runner. Those of vitest, `node:test` and jest are compatible. */
export interface TestApi {
  describe(name: string, body: () => void): void;
  it(name: string, body: () => Promise<void>): void;
}

/**
 * Runs the tests that every provider has to pass: recorded streams whole, in pieces, cut and disturbed, refusals,
 * aborts, and a consumer that stops reading. The vendor's SDK runs over the suite's own `fetch`; nothing leaves the
 * process.
 * @example
 * providerSuite({ describe, it }, {
 *   provider: echo,
 *   model: { provider: "mine", id: "parrot", api: "echo", contextWindow: 8_192, maxOutputTokens: 1_024, input:
 * ["text"], thinking: [], tools: "native" },
 *   recordings: [{ name: "text", body: 'data: {"say":"Hi"}\n\ndata: {"end":true}\n\n' }],
 *   keepAlive: ": still here\n\n",
 * });
 */
export function providerSuite({ describe, it }: TestApi, subject: ProviderSubject): void {
  describe(`provider ${subject.provider.api}`, () => {
    for (const recording of subject.recordings)
      describe(recording.name, () => {
        const recorded = new Recorded(subject, recording);
        it("reads the complete stream", () => recorded.readsWhole());
        it("reads the same in single bytes", () =>
          recorded.readsTheSame(Array.from(recorded.bytes, (byte) => Uint8Array.of(byte))));
        it("ignores keep-alives", () => recorded.readsTheSame(recorded.keptAlive()));
        it("ends once wherever the stream is cut, and runs no tools", () => recorded.cutAnywhere());
        it("fails with a timeout wherever the stream stalls", () => recorded.stalled());
        it("survives garbage between events", () => recorded.garbled());
        it("survives a repeated first event", () => recorded.begunTwice());
        const { errorEvent } = subject;
        if (errorEvent !== undefined && recording.ends !== "error")
          it("ends with an error that the vendor reports in mid-stream", () =>
            recorded.interrupted(bytesOf(errorEvent)));
        it("ends at once when aborted, and closes the connection", () => recorded.aborted());
      });
    testConnection(it, new Subject(subject));
    testAnswers(it, new Subject(subject));
  });
}

const bytesOf = (body: string | Uint8Array): Uint8Array =>
  typeof body === "string" ? Buffer.from(body) : body;

/** A broken answer may contain complete calls, but it must neither ask to run them nor count as complete. */
function assertSafe(turn: ReadTurn, whole: AnswerSummary, where: string): void {
  const wrong = findCutProblem(turn, whole);
  assert.notEqual(wrong, "less", `${where}: it counts as complete but differs from the whole answer`);
  const partial = "it asks to run tools although it failed, or has a readable call that was never completed";
  assert.notEqual(wrong, "partialCall", `${where}: ${partial}`);
}

class Recorded extends Subject {
  readonly bytes: Uint8Array;
  readonly #ends: readonly number[];
  readonly #recording: RecordedStream;

  constructor(subject: ProviderSubject, recording: RecordedStream) {
    super(subject);
    this.#recording = recording;
    this.bytes = bytesOf(recording.body);
    this.#ends = eventEnds(this.bytes);
  }

  /** The stream up to an offset, followed by other bytes. */
  #upTo(place: number, ...then: readonly Uint8Array[]): readonly Uint8Array[] {
    return [this.bytes.subarray(0, place), ...then];
  }

  async readsWhole(): Promise<void> {
    const { says, ends = "finish" } = this.#recording;
    const { error, message } = await this.read({ pieces: [this.bytes] });
    assert.equal(error === undefined ? "finish" : "error", ends, error?.message ?? "finished");
    if (says?.text !== undefined) assert.equal(textOf(message.content), says.text, "the text differs");
    const calls = message.content.flatMap((block) =>
      block.type === "toolCall" && block.args !== undefined ? { name: block.name, args: block.args } : [],
    );
    if (says?.calls !== undefined) assert.deepEqual(calls, says.calls, "the tool calls differ");
  }

  async readsTheSame(pieces: readonly Uint8Array[]): Promise<void> {
    const whole = await this.read({ pieces: [this.bytes] });
    const turn = await this.read({ pieces });
    assert.deepEqual(essence(turn), essence(whole), "the same stream in other pieces gives another message");
  }

  /** The stream with keep-alives between all of its events. */
  keptAlive(): readonly Uint8Array[] {
    const alive = bytesOf(this.subject.keepAlive);
    const starts = [0, ...this.#ends];
    return starts.flatMap((start, event) => [alive, this.bytes.subarray(start, starts[event + 1])]);
  }

  async cutAnywhere(): Promise<void> {
    const { read, whole } = await this.#reading();
    const edges = new Set(this.#ends);
    for (const cut of cutsOf(this.bytes, this.#ends, this.subject.everyByte === true)) {
      const near = edges.has(cut) || edges.has(cut + 1);
      for (const ending of near ? ENDINGS : ENDINGS.slice(cut % 2, (cut % 2) + 1)) {
        const where = `cut at byte ${cut} (${ending})`;
        const turn = await read({ pieces: this.#upTo(cut), ending }).catch((cause: unknown) => {
          throw new Error(where, { cause });
        });
        assertSafe(turn, whole, where);
      }
    }
  }

  async stalled(): Promise<void> {
    const { whole } = await this.#reading();
    const ends = this.#ends;
    const middle = Math.floor(this.bytes.length / 2);
    const stalls = new Set([0, ends[0] ?? 0, middle, ends.at(-3) ?? 0, ends.at(-2) ?? 0]);
    const timeouts = { firstByteMs: 10, idleMs: 10 };
    const stall = async (at: number): Promise<void> => {
      const pieces = at === 0 ? [] : this.#upTo(at);
      const { line, events } = this.open({ pieces, ending: "stall" }, { timeouts });
      const turn = await this.within("a turn whose server is silent", readTurn(events));
      const where = `silent from byte ${at} on`;
      // The vendor may have sent everything before the cut, including a failure.
      assertSafe(turn, whole, where);
      if (turn.error === undefined || (whole.failed && summarizeAnswer(turn).said === whole.said)) return;
      assert.equal(turn.error.code, "timeout", `${where}: a stalled stream has to fail with a timeout`);
      assert.ok(line.closed, `${where}: the connection was left open`);
    };
    await Promise.all([...stalls].map(stall));
  }

  async garbled(): Promise<void> {
    const { read, whole } = await this.#reading();
    const noise = bytesOf('data: {"type": <html>\u0000 not json\n\n');
    for (const end of this.#ends.slice(0, -1)) {
      const turn = await read({ pieces: this.#upTo(end, noise, this.bytes.subarray(end)) });
      assertSafe(turn, whole, `garbage after byte ${end}`);
    }
  }

  async begunTwice(): Promise<void> {
    const { read, whole } = await this.#reading();
    const first = this.#ends[0] ?? 0;
    // A first event with content is not a start event. Repeating it only repeats the content.
    const without = summarizeAnswer(await read({ pieces: [this.bytes.subarray(first)] }));
    if (without.said !== whole.said) return;
    const turn = await read({ pieces: this.#upTo(first, this.bytes) });
    assertSafe(turn, whole, "a first event that came twice");
  }

  async interrupted(error: Uint8Array): Promise<void> {
    const { read, whole } = await this.#reading();
    for (const end of this.#ends.slice(0, Math.max(1, this.#ends.length - 3))) {
      const turn = await read({ pieces: this.#upTo(end, error) });
      assert.equal(turn.error?.code, "overloaded", `after byte ${end}: ${turn.error?.message ?? "no error"}`);
      assert.equal(turn.error.retryable, true, `after byte ${end}: an overload has to be retryable`);
      assertSafe(turn, whole, `an error after byte ${end}`);
    }
  }

  async aborted(): Promise<void> {
    const abort = new AbortController();
    const pieces = this.#upTo(this.#ends[0] ?? 1);
    const { line, events } = this.open({ pieces, ending: "stall" }, {}, { signal: abort.signal });
    const seen: ModelEvent[] = [];
    let over = false;
    const read = async (): Promise<void> => {
      for await (const event of events) seen.push(event);
      over = true;
    };
    const reading = read();
    await this.until("asking", () => line.requests.length > 0);
    await waitForEventLoop(() => over);
    abort.abort();
    await waitForEventLoop(() => over);
    assert.ok(over, `an aborted turn was not over within ${ABORT_TURNS} turns of the event loop`);
    await this.within("a turn that was aborted", reading);
    const { error, message } = checkEvents(seen);
    assert.equal(error?.code, "aborted", "an aborted turn has to fail as aborted");
    assert.equal(message.stopReason, "aborted", "the message of an aborted turn has the stop reason aborted");
    assert.ok(line.closed, "the connection was left open");
  }

  /** Returns a reader for many responses, and the result of the complete stream. */
  async #reading() {
    const read = this.reader();
    return { read, whole: summarizeAnswer(await read({ pieces: [this.bytes] })) };
  }
}

/** The fields that must be equal in two readings of the same stream. A provider need not use `config.now`. */
function essence({ message }: ReadTurn): Omit<AssistantMessage, "error" | "timestamp"> {
  const { error: _, timestamp: __, ...rest } = message;
  return rest;
}

const DENSE = 4_096;
const STRIDE = 61;
/**
 * How the connection ends at a cut. The two endings alternate, except near the end of an event, where both are tested.
 */
const ENDINGS = ["end", "break"] as const;

/**
 * Returns all cuts of a small recording that can have different results. For a large one, returns the cuts near its
 * events and a sample.
 */
function cutsOf(bytes: Uint8Array, ends: readonly number[], everyByte: boolean): readonly number[] {
  if (everyByte) return [...bytes.keys()];
  if (bytes.length <= DENSE) return cutPlaces(bytes);
  const cuts = new Set(ends.flatMap((end) => [end - 3, end - 2, end - 1, end, end + 1]));
  for (let at = 0; at < bytes.length; at += STRIDE) cuts.add(at);
  for (let at = 0; at < bytes.length && cuts.size < DENSE; at++) if ((bytes[at] ?? 0) >= 0x80) cuts.add(at);
  return [...cuts].filter((cut) => cut >= 0 && cut < bytes.length).sort((a, b) => a - b);
}

/**
 * Maximum number of event-loop turns in which an aborted turn must end. They take a few milliseconds on an idle
 * machine.
 */
const ABORT_TURNS = 50;

/** Waits for this number of event-loop turns, or fewer if the turn has ended. */
async function waitForEventLoop(isOver: () => boolean): Promise<void> {
  for (let turn = 0; turn < ABORT_TURNS && !isOver(); turn++) await new Promise(setImmediate);
}

function testConnection(it: TestApi["it"], under: Subject): void {
  it("sends no request before it is read", async () => {
    const { line, events } = under.open({ pieces: [] });
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(line.requests.length, 0, "the request was sent before the first event was pulled");
    await events[Symbol.asyncIterator]().return?.();
    assert.equal(line.requests.length, 0, "the request was sent although the stream was left");
  });

  it("closes the connection when the consumer leaves", async () => {
    const bytes = bytesOf(under.subject.recordings[0]?.body ?? "");
    const pieces = [bytes.subarray(0, eventEnds(bytes)[0] ?? 1)];
    const { line, events } = under.open({ pieces, ending: "stall" });
    const leave = async (): Promise<void> => {
      for await (const event of events) if (event.type === "start") break;
    };
    await under.within("leaving a turn", leave());
    await under.until("closing the connection", () => line.closed);
  });

  it("sends no request if it was aborted before", async () => {
    const { line, events } = under.open({ pieces: [] }, {}, { signal: AbortSignal.abort() });
    const turn = await under.within("a turn that was aborted before", readTurn(events));
    assert.equal(turn.error?.code, "aborted", "an aborted turn has to fail as aborted");
    assert.equal(line.requests.length, 0, "the request was sent although it was aborted before");
  });

  it("ends with a network failure if the server is unreachable", async () => {
    const refused = async (): Promise<Response> => {
      const cause = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
      throw new TypeError("fetch failed", { cause });
    };
    const { error } = await under.read({ pieces: [] }, { fetch: refused });
    const { code, retryable, emitted } = error ?? {};
    const expected = { code: "network", retryable: true, emitted: false };
    assert.deepEqual(
      { code, retryable, emitted },
      expected,
      "an unreachable server is a retryable network failure",
    );
  });
}

function testAnswers(it: TestApi["it"], under: Subject): void {
  const { empty, refusals = [] } = under.subject;
  if (empty !== undefined)
    it("finishes a response without content", async () => {
      const { error, message } = await under.read({ pieces: [bytesOf(empty)] });
      assert.equal(error, undefined, "a response without content is not a failure");
      const isEmpty = message.content.every((block) => "text" in block && block.text === "");
      assert.ok(isEmpty, "the message has content that the response does not have");
    });

  for (const { name, status, headers, body, ...expected } of refusals)
    it(`classifies a refusal: ${name}`, async () => {
      const json = { "content-type": "application/json" };
      const answer = { status, headers: { ...json, ...headers }, pieces: [bytesOf(body)] };
      const { error } = await under.read(answer);
      assert.equal(error?.code, expected.code, error?.message ?? "no error");
      assert.equal(error.status, status, "the failure has another status");
      assert.equal(error.emitted, false, "a refusal counts as if text had been emitted");
      if (expected.retryAfterMs !== undefined)
        assert.equal(error.retryAfterMs, expected.retryAfterMs, "the failure has another retryAfterMs");
    });
}
