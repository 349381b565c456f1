import { once } from "node:events";
import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { systemClock } from "../host/system-clock.ts";
import { logPrinted } from "./log-printed.ts";

function open() {
  const stream = new PassThrough();
  const logged: unknown[] = [];
  const log = (message: string, fields?: { readonly printed?: unknown }): void =>
    void logged.push(fields?.printed ?? message);
  const time = { now: 0 };
  logPrinted([stream], {
    logger: { debug: log, info: log, warn: log, error: log },
    clock: { ...systemClock, now: () => time.now },
  });
  const print = async (...texts: readonly string[]): Promise<void> => {
    for (const text of texts) {
      stream.write(text);
      await new Promise(setImmediate);
    }
  };
  return { stream, logged, time, print };
}

it("has what comes at once as one entry, and a line once it is whole", async () => {
  const { stream, logged, print } = open();
  await print("Error: refused\n    at send\n", "beg", "un\n", "the last");
  stream.end();
  await once(stream, "end");
  expect(logged).toEqual(["Error: refused\n    at send", "begun", "the last"]);
});

it("ends a long entry between two words, and takes up again after its line", async () => {
  const { logged, print } = open();
  await print(`${"x".repeat(3_000)} ${"y".repeat(2_000)}`, "y".repeat(90_000), "yyy\nnext\n");
  expect(logged).toEqual([`${"x".repeat(3_000)} [the rest is left out]`, "next"]);
  await print(`${"z".repeat(5_000)}\n`);
  expect(logged.at(-1)).toBe("[the rest is left out]");
});

it("leaves out of a minute what is too much for it, and says so once", async () => {
  const { logged, time, print } = open();
  await print(...Array.from({ length: 80 }, (_, at) => `line ${at}\n`));
  expect(logged).toHaveLength(61);
  expect(logged.at(-1)).toContain("the rest of this minute is left out");
  time.now = 60_000;
  await print("a minute later\n");
  expect(logged.slice(61)).toEqual(["a minute later"]);
});
