import assert from "node:assert/strict";
import type { AssistantMessage, JsonObject, Model, ModelContext, ModelEvent } from "@signalbox/agent-core";
import type { FetchLike, Provider, ProviderConfig } from "../provider/provider.ts";
import { checkEvents, type ReadTurn, readTurn } from "./check.ts";
import { type Whole, wholeOf, wrongWithCut } from "./cut.ts";
import { bytewise, cutPlaces, eventEnds, type Wire, type WireAnswer, wire } from "./wire.ts";

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
  /** What it says when read whole; not looked at where absent. */
  readonly says?: {
    readonly text?: string;
    readonly calls?: readonly { readonly name: string; readonly args: JsonObject }[];
  };
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
  /** Cut at every byte of every recording, also where it comes out as a cut beside it. Slow. */
  readonly everyByte?: boolean;
  /** Milliseconds after which a turn counts as hanging; default 10,000. */
  readonly hungMs?: number;
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
    return within("a turn", readTurn(events), this.#subject.hungMs);
  }

  /** Reads many answers of one account, one after the other: a client takes longer to make than most are to read. */
  reader(): (answer: WireAnswer) => Promise<ReadTurn> {
    const { provider, model, hungMs } = this.#subject;
    let line = wire({ pieces: [] });
    const fetch: FetchLike = (input, init) => line.fetch(input, init);
    const stream = provider.connect({ apiKey: "k", now: () => FIXED_TIME, fetch });
    return (answer) => {
      line = wire(answer);
      return within("a turn", readTurn(stream(model, CONTEXT, {})), hungMs);
    };
  }
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

const HUNG_MS = 10_000;
/** Turns of the event loop in which an aborted turn ends: a few milliseconds where there is nothing else to do. */
const ABORT_TURNS = 50;

async function within<T>(what: string, promise: Promise<T>, ms: number = HUNG_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new assert.AssertionError({ message: `${what} hangs` })), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

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
          const { says } = recording;
          if (says?.text !== undefined) assert.equal(saysOf(turn).text, says.text);
          if (says?.calls !== undefined) assert.deepEqual(saysOf(turn).calls, says.calls);
        });

        it("reads the same in single bytes", async () => {
          const whole = await under.read({ pieces: [bytes] });
          const turn = await under.read({ pieces: bytewise(bytes) });
          assert.deepEqual(essence(turn), essence(whole));
        });

        it("ends once wherever it is cut, and runs nothing then", async () => {
          const read = under.reader();
          const whole = wholeOf(await read({ pieces: [bytes] }));
          const edges = new Set(eventEnds(bytes));
          for (const cut of cutsOf(bytes, subject.everyByte === true)) {
            const near = edges.has(cut) || edges.has(cut + 1);
            for (const ending of near ? ENDINGS : ENDINGS.slice(cut % 2, (cut % 2) + 1)) {
              const turn = await read({ pieces: [bytes.subarray(0, cut)], ending }).catch(
                (error: unknown) => {
                  throw new Error(`cut at byte ${cut} (${ending})`, { cause: error });
                },
              );
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
