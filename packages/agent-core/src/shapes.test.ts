import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const script = (index: string): string => `
import { queryObjects } from "node:v8";
import { Agent, Snapshot, streamOf } from ${JSON.stringify(index)};
const ready = Object.getPrototypeOf(streamOf([])).constructor;
// Counts after a full collection.
const count = (one) => queryObjects(one, { format: "count" });
console.log(JSON.stringify([count(Agent), count(Snapshot), count(ready)]));`;

it("an object of each class of a run outlives a full collection, without any run", async () => {
  const index = new URL("index.ts", import.meta.url).href;
  const { stdout } = await promisify(execFile)(process.execPath, [
    "--input-type=module",
    "--eval",
    script(index),
  ]);
  // An agent and a run have a snapshot each.
  expect(JSON.parse(stdout)).toEqual([1, 2, 1]);
});
