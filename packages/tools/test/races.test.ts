// Another process keeps swapping the targets of paths while the tools use them.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { ToolResult } from "@signalbox/agent-core";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  createEditTool,
  createLsTool,
  createReadTool,
  createWriteTool,
  openWorkspace,
} from "../src/index.ts";
import { caller, textOf } from "./harness.ts";

/** More rounds find more races: `SIGNALBOX_RACE_ROUNDS=5000` takes half a minute. */
const ROUNDS = Number(process.env["SIGNALBOX_RACE_ROUNDS"] ?? 100);
const SECRET = "canary-that-nobody-may-read";
/** Swaps `flip` between a folder and a link out, and `file` between a file and a link out, as fast as possible. */
const SWAPPER = `
const { renameSync, symlinkSync, mkdirSync, writeFileSync, rmSync } = require("node:fs");
const { workerData: { dir, outside, stop } } = require("node:worker_threads");
const flag = new Int32Array(stop);
mkdirSync(dir + "/folder"); writeFileSync(dir + "/folder/secret.txt", "harmless");
symlinkSync(outside, dir + "/link");
writeFileSync(dir + "/plain", "harmless"); symlinkSync(outside + "/secret.txt", dir + "/filelink");
const swap = (a, b) => { try { renameSync(a, b); } catch {} };
while (Atomics.load(flag, 0) === 0) {
  swap(dir + "/folder", dir + "/flip"); swap(dir + "/flip", dir + "/folder");
  swap(dir + "/link", dir + "/flip"); swap(dir + "/flip", dir + "/link");
  swap(dir + "/plain", dir + "/file"); swap(dir + "/file", dir + "/plain");
  swap(dir + "/filelink", dir + "/file"); swap(dir + "/file", dir + "/filelink");
  Atomics.add(flag, 1, 1);
}
`;

let base: string;
let worker: Worker;
let flag: Int32Array<SharedArrayBuffer>;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "races-")));
  mkdirSync(join(base, "outside"));
  mkdirSync(join(base, "workspace"));
  writeFileSync(join(base, "outside/secret.txt"), SECRET);
  flag = new Int32Array(new SharedArrayBuffer(8));
  const workerData = { dir: join(base, "workspace"), outside: join(base, "outside"), stop: flag.buffer };
  worker = new Worker(SWAPPER, { eval: true, workerData });
});
afterEach(async () => {
  Atomics.store(flag, 0, 1);
  await worker.terminate();
  rmSync(base, { recursive: true, force: true });
});

test.skipIf(process.platform !== "linux")(
  "a parent folder that is swapped for a link does not lead outside",
  async () => {
    const workspace = await openWorkspace({ dir: join(base, "workspace") });
    const agent = caller([
      createReadTool({ workspace }),
      createWriteTool({ workspace }),
      createEditTool({ workspace }),
      createLsTool({ workspace }),
    ]);
    while (Atomics.load(flag, 1) === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const seen = new Set<string>();
    const look = async (calls: readonly Promise<ToolResult>[]): Promise<void> => {
      for (const result of await Promise.all(calls)) {
        expect(textOf(result)).not.toContain(SECRET);
        seen.add(textOf(result));
      }
    };
    const isRefused = (): boolean => [...seen].some((text) => text.includes("outside the workspace"));
    // Continue until both states of the swap were observed, so that the attempt was real.
    for (let i = 0; i < ROUNDS || !seen.has("harmless") || !isRefused(); i++) {
      const reads = Array.from({ length: 4 }, () => agent.call("read", { file_path: "flip/secret.txt" }));
      await look([...reads, agent.call("read", { file_path: "file" }), agent.call("ls", { path: "flip" })]);
      if (i % 10 > 0) continue;
      await look([
        agent.call("write", { file_path: "flip/planted", content: "spoiled" }),
        agent.call("write", { file_path: "flip/new/planted", content: "spoiled" }),
        agent.call("edit", { file_path: "flip/secret.txt", old_string: "canary", new_string: "spoiled" }),
      ]);
    }
    expect(readFileSync(join(base, "outside/secret.txt"), "utf8")).toBe(SECRET);
    expect(existsSync(join(base, "outside/planted"))).toBe(false);
    expect(existsSync(join(base, "outside/new"))).toBe(false);
  },
);
