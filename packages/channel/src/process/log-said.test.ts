import { expect, it } from "vitest";
import { systemClock } from "../host/system-clock.ts";
import { createEntryLog } from "./log-said.ts";

function open() {
  const logged: (readonly [level: string, message: string, fields?: unknown])[] = [];
  const log =
    (level: string) =>
    (message: string, fields?: unknown): void =>
      void logged.push(fields === undefined ? [level, message] : [level, message, fields]);
  const time = { now: 0 };
  const say = createEntryLog({
    logger: { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") },
    clock: { ...systemClock, now: () => time.now },
  });
  return { logged, time, say };
}

it("leaves out of a minute what is too much for it, says so once, and lets what is worse through", () => {
  const { logged, time, say } = open();
  for (let at = 0; at < 80; at++) say({ level: "info", message: `entry ${at}` });
  expect(logged).toHaveLength(61);
  expect(logged.at(-1)).toEqual([
    "warn",
    "the account's process logs too much; the rest of this minute is left out",
    { level: "info" },
  ]);
  say({ level: "error", message: "it broke", fields: { at: 7 } });
  expect(logged.at(-1)).toEqual(["error", "it broke", { at: 7 }]);
  time.now = 60_000;
  say({ level: "info", message: "a minute later" });
  expect(logged.at(-1)).toEqual(["info", "a minute later"]);
});

it("shortens a long message and long fields between two words", () => {
  const { logged, say } = open();
  const long = `${"x".repeat(3_000)} ${"y".repeat(2_000)}`;
  say({ level: "warn", message: long, fields: { long } });
  expect(logged).toEqual([
    [
      "warn",
      `${"x".repeat(3_000)} [the rest is left out]`,
      { fields: `{"long":"${"x".repeat(3_000)} [the rest is left out]` },
    ],
  ]);
});
