import { describe, expect, it } from "vitest";
import { createManualClock } from "../test/manual-clock.ts";
import { KEYED, plainAccount } from "../test/plain.ts";
import { Rates } from "./rates.ts";

const account = plainAccount(
  {},
  { capabilities: { ...KEYED, rate: [{ scope: "conversation", perSecond: 5, burst: 2 }] } },
);
const chat = { channel: "plain", account: "main", address: "chat" };
const other = { ...chat, address: "other" };

function setup() {
  const clock = createManualClock();
  const stop = new AbortController();
  const rates = new Rates(clock, stop.signal);
  /** Returns how long a request to `destination` waits, in milliseconds. */
  const waitFor = async (destination: typeof chat): Promise<number> => {
    const began = clock.now();
    let done = false;
    const waiting = rates.wait(account, destination).then(() => {
      done = true;
    });
    await clock.advance(0);
    while (!done) await clock.advance(10);
    await waiting;
    return clock.now() - began;
  };
  return { clock, rates, stop, waitFor };
}

describe("Rates", () => {
  it("delay nothing while the platform accepts everything", async () => {
    const { waitFor } = setup();
    for (let send = 0; send < 50; send++) expect(await waitFor(chat)).toBe(0);
  });

  it("are enforced after a rejection, for that conversation only and for a minute", async () => {
    const { clock, rates, waitFor } = setup();
    rates.enforce(account, chat);
    expect([await waitFor(chat), await waitFor(chat), await waitFor(other)]).toEqual([200, 200, 0]);
    await clock.advance(5_000);
    expect([await waitFor(chat), await waitFor(chat), await waitFor(chat)]).toEqual([0, 0, 200]);
    await clock.advance(60_000);
    for (let send = 0; send < 10; send++) expect(await waitFor(chat)).toBe(0);
  });

  it("keep the place of a row that waits in the outbox", async () => {
    const { clock, rates } = setup();
    const first = { ...chat, id: "1" };
    const second = { ...chat, id: "2" };
    rates.enforce(account, chat);
    expect([rates.reserve(account, first), rates.reserve(account, second)]).toEqual([200, 400]);
    await clock.advance(200);
    expect([rates.reserve(account, first), rates.reserve(account, second)]).toEqual([0, 200]);
    await clock.advance(200);
    expect(rates.reserve(account, second)).toBe(0);
  });

  it("end all waits once sending stops", async () => {
    const { rates, stop } = setup();
    rates.enforce(account, chat);
    const waiting = rates.wait(account, chat);
    stop.abort();
    expect(await waiting).toBe(false);
  });
});
