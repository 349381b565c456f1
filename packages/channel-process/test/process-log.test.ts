import { once } from "node:events";
import { PassThrough } from "node:stream";
import { systemClock } from "@signalbox/channel";
import { expect, it } from "vitest";
import { createProcessLog } from "../src/process-log.ts";

function open() {
  const stream = new PassThrough();
  const logged: (readonly [level: string, message: string, fields?: unknown])[] = [];
  const log =
    (level: string) =>
    (message: string, fields?: unknown): void =>
      void logged.push(fields === undefined ? [level, message] : [level, message, fields]);
  const time = { now: 0 };
  const processLog = createProcessLog({
    logger: { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") },
    clock: { ...systemClock, now: () => time.now },
  });
  processLog.capture(stream);
  const print = async (...texts: readonly string[]): Promise<void> => {
    for (const text of texts) {
      stream.write(text);
      await new Promise(setImmediate);
    }
  };
  const printed = () => logged.map(([, , fields]) => (fields as { printed?: unknown } | undefined)?.printed);
  return { stream, logged, printed, time, print, write: processLog.write };
}

const LONG = `${"x".repeat(3_000)} ${"y".repeat(2_000)}`;

it("logs lines that are printed together as one entry, and an incomplete line once it ends", async () => {
  const { stream, printed, print } = open();
  await print("Error: refused\n    at send\n", "beg", "un\n", "the last");
  stream.end();
  await once(stream, "end");
  expect(printed()).toEqual(["Error: refused\n    at send", "begun", "the last"]);
});

it("cuts a long printed line between words and continues after it", async () => {
  const { printed, print } = open();
  await print(LONG, "y".repeat(90_000), "yyy\nnext\n");
  expect(printed()).toEqual([`${"x".repeat(3_000)} [truncated]`, "next"]);
  await print(`${"z".repeat(5_000)}\n`);
  expect(printed().at(-1)).toBe("[truncated]");
});

it("drops printed output over the limit of a minute and logs that once", async () => {
  const { logged, printed, time, print } = open();
  await print(...Array.from({ length: 80 }, (_, at) => `line ${at}\n`));
  expect(logged).toHaveLength(61);
  expect(logged.at(-1)?.[1]).toContain("dropping its output for the rest of this minute");
  time.now = 60_000;
  await print("a minute later\n");
  expect(printed().slice(61)).toEqual(["a minute later"]);
});

it("limits each level separately", () => {
  const { logged, time, write } = open();
  for (let at = 0; at < 80; at++) write({ level: "info", message: `entry ${at}` });
  expect(logged).toHaveLength(61);
  expect(logged.at(-1)).toEqual([
    "warn",
    "the account's process logs too much; dropping its entries for the rest of this minute",
    { level: "info" },
  ]);
  write({ level: "error", message: "it broke", fields: { at: 7 } });
  expect(logged.at(-1)).toEqual(["error", "it broke", { at: 7 }]);
  time.now = 60_000;
  write({ level: "info", message: "a minute later" });
  expect(logged.at(-1)).toEqual(["info", "a minute later"]);
});

it("cuts a long message and long fields between words", () => {
  const { logged, write } = open();
  write({ level: "warn", message: LONG, fields: { long: LONG } });
  expect(logged).toEqual([
    ["warn", `${"x".repeat(3_000)} [truncated]`, { fields: `{"long":"${"x".repeat(3_000)} [truncated]` }],
  ]);
});
