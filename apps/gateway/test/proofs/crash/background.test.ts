import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import { ends, eventually, exampleConfig, openWorld, type World, ZHANG } from "../../support/harness.ts";
import { modelRequests } from "../../support/model-requests.ts";
import { noCommands } from "../../support/no-commands.ts";
import type { Failpoint } from "./failpoints.ts";

if (noCommands !== undefined) console.log(`skipped: ${noCommands}`);

/** What a model does that starts a command in the background, and is asked later what runs. */
function scripted(world: World, command: string): void {
  world.script((body) => {
    const request = JSON.stringify(body);
    const results = request.match(/"tool_result"/g)?.length ?? 0;
    if (results === 0) return { toolCalls: [{ name: "exec", input: { command, background: true } }] };
    if (results === 1 && request.includes("what runs now?"))
      return { toolCalls: [{ name: "process", input: { action: "list" } }] };
    return { text: "Done." };
  });
}

function isAlive(mark: string): boolean {
  try {
    return execFileSync("pgrep", ["-f", mark], { encoding: "utf8" }).trim() !== "";
  } catch {
    return false;
  }
}

function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, "utf8").trim().split("\n");
  } catch {
    return [];
  }
}

/** Of each moment: how often the command has run once all is at rest, and whether its outcome is unknown. */
const MOMENTS: readonly (readonly [Failpoint, { readonly runs: number; readonly isUnknown: boolean }])[] = [
  ["toolStart.before", { runs: 1, isUnknown: false }],
  ["toolStart.after", { runs: 0, isUnknown: true }],
  ["tool.before", { runs: 0, isUnknown: true }],
  ["tool.after", { runs: 1, isUnknown: true }],
  ["toolResult.before", { runs: 1, isUnknown: true }],
  ["toolResult.after", { runs: 1, isUnknown: false }],
];

describe.skipIf(noCommands !== undefined)("a background command of a gateway that dies", () => {
  it.each(MOMENTS)(
    "at %s ends with the gateway, and is not run again",
    async (point, { runs, isUnknown }) => {
      const world = await openWorld();
      world.configure(
        exampleConfig({
          agents: {
            defaults: { model: "anthropic/claude-sonnet-4-6" },
            list: [{ id: "coder", tools: { allow: ["exec", "process"] } }],
          },
          access: { owners: [`feishu:${ZHANG}`], dm: "open" },
        }),
      );
      const mark = `sleep 0.0${process.pid}${MOMENTS.findIndex(([each]) => each === point)}`;
      scripted(world, `echo ran >> effects.log; while :; do ${mark}; done`);
      const first = await world.startTuned({ SIGNALBOX_FAILPOINT: `${point}:1:kill` });
      await first.post(textMessage("start it", { senderId: ZHANG }));
      expect(await first.exited).toMatchObject({ signal: "SIGKILL" });
      await eventually(() => !isAlive(mark), "the command has ended with its gateway");

      const second = await world.start();
      await second.settled();
      expect(await ends(world)).toEqual([["replied", undefined]]);
      expect(linesOf(join(world.home.workspace("coder"), "effects.log"))).toEqual(Array(runs).fill("ran"));
      const told = JSON.stringify(modelRequests(world.anthropic).at(-1)?.body.messages);
      expect(told.includes("Outcome unknown")).toBe(isUnknown);
      await second.post(textMessage("what runs now?", { senderId: ZHANG }));
      await second.settled();
      const listed = JSON.stringify(modelRequests(world.anthropic).at(-1)?.body.messages.at(-1));
      expect(listed.includes("(nothing is running in the background)")).toBe(point !== "toolStart.before");
      await second.stop();
      await eventually(() => !isAlive(mark), "what was started again has ended too");
    },
  );
});
