import { expect, it } from "vitest";
import { judgeFlood } from "./flood.ts";
import { judgeStorm } from "./storm.ts";

const once = (...names: string[]): Map<string, number> => new Map(names.map((name) => [name, 1]));
const storm = { names: ["a", "b"], asked: once("a", "b"), replied: once("a", "b"), rows: 2 };
const flood = { acknowledged: ["a", "b"], refused: ["c"], odd: [], code: 0, replies: once("a", "b") };

it("finds no fault in a correct storm and flood", () => {
  expect(judgeStorm(storm)).toEqual([]);
  expect(judgeFlood(flood)).toEqual([]);
});

it.each([
  ["a second run", { asked: new Map([...storm.asked, ["b", 2]]) }, "b had 2 runs"],
  ["no run", { asked: once("a") }, "b had 0 runs"],
  ["a second reply", { replied: new Map([...storm.replied, ["a", 2]]) }, "a had 2 replies"],
  ["no reply", { replied: once("b") }, "a had 0 replies"],
  ["a reply nobody asked for", { replied: once("a", "b", "c") }, "c is no event and had a reply"],
  ["a row more", { rows: 3 }, "the inbox holds 3 replied messages"],
])("blames %s in a storm", (_, breach, blame) => {
  expect(judgeStorm({ ...storm, ...breach })).toEqual([blame]);
});

it.each([
  ["a lost message", { replies: once("a") }, "b was acknowledged and answered 0 times"],
  [
    "a second answer",
    { replies: new Map([...flood.replies, ["a", 2]]) },
    "a was acknowledged and answered 2 times",
  ],
  ["what was refused and taken", { replies: once("a", "b", "c") }, "c was refused and answered"],
  ["a strange answer", { odd: ["d was answered 500"] }, "d was answered 500"],
  ["a gateway that ends badly", { code: 1 }, "the gateway ended with 1"],
])("blames %s in a flood", (_, breach, blame) => {
  expect(judgeFlood({ ...flood, ...breach })).toEqual([blame]);
});
