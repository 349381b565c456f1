import assert from "node:assert/strict";
import type { AssistantMessage, Model, ModelContext, ModelEvent } from "@signalbox/agent-core";
import type { Provider, ProviderConfig } from "../provider.ts";
import { checkEvents, type ReadTurn, readTurn } from "./check.ts";
import { bytewise, eventEnds, type Wire, type WireAnswer, wire } from "./wire.ts";

/** What the suite needs of a test runner; vitest's, node:test's and jest's functions all fit. */
export interface TestApi {
  describe(name: string, body: () => void): void;
  it(name: string, body: () => Promise<void>): void;
}

/** One recorded answer of the vendor. */
export interface RecordedStream {
  readonly name: string;
  /** The event stream as it came. */
  readonly body: string | Uint8Array;
  /** How reading it whole ends; default `finish`. */
  readonly ends?: "finish" | "error";
}

/** A refusal of the vendor and what it has to be made of. */
export interface RecordedRefusal {
  readonly name: string;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
  readonly code: string;
  readonly retryAfterMs?: number;
}

/** What is tested. */
export interface ProviderSubject {
  readonly provider: Provider;
  readonly model: Model;
  readonly recordings: readonly RecordedStream[];
  /** Bytes that may come between any two events and mean nothing. */
  readonly keepAlive: string;
  /** An event by which the vendor reports an overload in mid-stream; absent where it has none. */
  readonly errorEvent?: string;
  /** An answer without content. */
  readonly empty?: string;
  readonly refusals?: readonly RecordedRefusal[];
  /** Cut at every byte of every recording, not only near the edges of its events. Slow. */
  readonly everyByte?: boolean;
}

const CONTEXT: ModelContext = {
  system: { stable: "You are tested." },
  messages: [{ role: "user", content: "Go on.", timestamp: 0 }],
  tools: [{ name: "probe", description: "A tool.", inputSchema: { type: "object", properties: {} } }],
};

const encoder = new TextEncoder();
const bytesOf = (body: string | Uint8Array): Uint8Array =>
  typeof body === "string" ? encoder.encode(body) : body;
const FIXED_TIME = 1_700_000_000_000;
const DENSE = 2_048;
const STRIDE = 61;

/** Every byte of a small recording; of a large one the edges of its events and of its characters, and a sample. */
function cutsOf(bytes: Uint8Array, everyByte: boolean): number[] {
  const cuts = new Set<number>();
  const add = (at: number): void => {
    if (at >= 0 && at < bytes.length) cuts.add(at);
  };
  if (everyByte || bytes.length <= DENSE) {
    for (let at = 0; at < bytes.length; at++) add(at);
  } else {
    for (const end of eventEnds(bytes)) for (let near = -3; near <= 1; near++) add(end + near);
    for (let at = 0; at < bytes.length; at += STRIDE) add(at);
    for (let at = 0; at < bytes.length && cuts.size < DENSE * 2; at++) if ((bytes[at] ?? 0) >= 0x80) add(at);
  }
  return [...cuts].sort((a, b) => a - b);
}

class Subject {
  readonly #subject: ProviderSubject;
  constructor(subject: ProviderSubject) {
    this.#subject = subject;
  }

  open(answer: WireAnswer, config: ProviderConfig = {}, signal?: AbortSignal) {
    const line: Wire = wire(answer);
    const { provider, model } = this.#subject;
    const stream = provider.connect({ apiKey: "k", now: () => FIXED_TIME, fetch: line.fetch, ...config });
    const events = stream(model, CONTEXT, signal === undefined ? {} : { signal });
    return { line, events };
  }

  async read(answer: WireAnswer, config?: ProviderConfig): Promise<ReadTurn> {
    const { events } = this.open(answer, config);
    return readTurn(events);
  }
}

/** What two readings of the same stream have to agree on. */
function essence(turn: ReadTurn): Omit<AssistantMessage, "error"> {
  const { error: _, ...rest } = turn.message;
  return rest;
}

/** A broken answer may keep whole calls, but must not ask for them to be run. */
function assertNothingRuns(turn: ReadTurn): void {
  if (turn.error === undefined) return;
  assert.notEqual(turn.message.stopReason, "tool_use", "a broken answer asks for its tools to be run");
}

/**
 * The tests every provider has to pass: its recorded streams whole and in pieces, cut, stalled, garbled and
 * interrupted, and what it does with refusals, aborts and a consumer that leaves. Nothing leaves the process; the
 * vendor's own SDK runs over a `fetch` that the suite provides.
 */
export function providerSuite({ describe, it }: TestApi, subject: ProviderSubject): void {
  const under = new Subject(subject);

  describe(`provider ${subject.provider.api}`, () => {
    for (const recording of subject.recordings) {
      const bytes = bytesOf(recording.body);
      describe(recording.name, () => {
        it("reads whole", async () => {
          const turn = await under.read({ pieces: [bytes] });
          assert.equal(
            turn.error === undefined ? "finish" : "error",
            recording.ends ?? "finish",
            turn.error?.message ?? "finished",
          );
        });

        it("reads the same in single bytes", async () => {
          const whole = await under.read({ pieces: [bytes] });
          const turn = await under.read({ pieces: bytewise(bytes) });
          assert.deepEqual(essence(turn), essence(whole));
        });

        it("ends once wherever it is cut, and runs nothing then", async () => {
          for (const cut of cutsOf(bytes, subject.everyByte === true)) {
            for (const ending of ["end", "break"] as const) {
              const turn = await under
                .read({ pieces: [bytes.subarray(0, cut)], ending })
                .catch((error: unknown) => {
                  throw new Error(`cut at byte ${cut} (${ending})`, { cause: error });
                });
              assertNothingRuns(turn);
            }
          }
        });

        it("is told of a stall", async () => {
          const cut = Math.floor(bytes.length / 2);
          const { line, events } = under.open(
            { pieces: [bytes.subarray(0, cut)], ending: "stall" },
            { timeouts: { firstByteMs: 30, idleMs: 30 } },
          );
          const turn = await readTurn(events);
          if (turn.error !== undefined && recording.ends !== "error") {
            assert.equal(turn.error.code, "timeout");
            assert.ok(line.closed, "the connection was left open");
          }
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

        it("survives garbage between its events", async () => {
          const noise = bytesOf('data: {"type": <html>\u0000 not json\n\n');
          for (const end of eventEnds(bytes).slice(0, -1)) {
            const turn = await under.read({ pieces: [bytes.subarray(0, end), noise, bytes.subarray(end)] });
            assertNothingRuns(turn);
          }
        });

        it("survives a first event that comes twice", async () => {
          const first = eventEnds(bytes)[0] ?? 0;
          // A first event that says something already is no start: its repetition is only a repetition.
          const alone = await under.read({ pieces: [bytes.subarray(0, first)] });
          if (alone.message.content.length > 0) return;
          const turn = await under.read({ pieces: [bytes.subarray(0, first), bytes] });
          assertNothingRuns(turn);
          const text = (one: ReadTurn): string =>
            one.message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
          if (turn.error === undefined) assert.equal(text(turn), text(await under.read({ pieces: [bytes] })));
        });

        const { errorEvent } = subject;
        if (errorEvent !== undefined && recording.ends !== "error")
          it("ends with the vendor's error in mid-stream", async () => {
            const ends = eventEnds(bytes);
            for (const end of ends.slice(0, Math.max(1, ends.length - 3))) {
              const turn = await under.read({ pieces: [bytes.subarray(0, end), bytesOf(errorEvent)] });
              assert.equal(
                turn.error?.code,
                "overloaded",
                `after byte ${end}: ${turn.error?.message ?? "no error"}`,
              );
              assert.equal(turn.error?.retryable, true);
              assertNothingRuns(turn);
            }
          });

        it("ends at once when it is aborted, and gives the connection up", async () => {
          const abort = new AbortController();
          const cut = eventEnds(bytes)[0] ?? 1;
          const { line, events } = under.open(
            { pieces: [bytes.subarray(0, cut)], ending: "stall" },
            {},
            abort.signal,
          );
          const seen: ModelEvent[] = [];
          setTimeout(() => abort.abort(), 5);
          for await (const event of events) seen.push(event);
          const turn = checkEvents(seen);
          assert.equal(turn.error?.code, "aborted");
          assert.equal(turn.message.stopReason, "aborted");
          assert.ok(line.closed, "the connection was left open");
        });
      });
    }

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
      for await (const event of events) if (event.type === "start") break;
      await new Promise((resolve) => setTimeout(resolve, 5));
      assert.ok(line.closed, "the connection was left open");
    });

    it("asks for nothing when it was aborted before", async () => {
      const { line, events } = under.open({ pieces: [] }, {}, AbortSignal.abort());
      assert.equal((await readTurn(events)).error?.code, "aborted");
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
  });
}
