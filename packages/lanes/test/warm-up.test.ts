import { expect, it } from "vitest";
import { type Loadable, warmUp } from "../src/index.ts";
import { createManualClock } from "../src/testkit/index.ts";

function setUp() {
  const loaded: string[] = [];
  const stop = new AbortController();
  const part = (name: string, load: () => Promise<unknown> = async () => {}): Loadable => ({
    name,
    load() {
      loaded.push(this.name);
      return load();
    },
  });
  const clock = createManualClock();
  return { loaded, stop, part, clock, ports: { signal: stop.signal, clock } };
}

it("loads one part after the other, also behind one that cannot be loaded, which is told", async () => {
  const { loaded, part, clock, ports } = setUp();
  const failed: string[] = [];
  const parts = [part("models", () => Promise.reject(new Error("it is not installed"))), part("tools")];
  const done = warmUp({ ...ports, parts, busy: () => false, onFailure: (name) => failed.push(name) });
  await clock.advance(100);
  expect(loaded).toEqual(["models"]);
  await clock.advance(100);
  await done;
  expect([loaded, failed]).toEqual([["models", "tools"], ["models"]]);
});

it("waits while somebody does, and ends when it is told to", async () => {
  const { loaded, stop, part, clock, ports } = setUp();
  let looks = 0;
  const busy = () => {
    looks += 1;
    return true;
  };
  const done = warmUp({ ...ports, parts: [part("models")], busy });
  await clock.advance(300);
  stop.abort();
  await done;
  expect([loaded, looks]).toEqual([[], 3]);
});
