import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const at = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);

// Counts the objects of each class after a full collection, when nothing is left of the run.
const script = (use: string): string => `
import { queryObjects } from "node:v8";
import { Agent, runAgentLoop, Snapshot, streamOf } from ${at("index.ts")};
import { Conversation } from ${at("conversation/conversation.ts")};
import { TurnCalls } from ${at("loop/calls.ts")};
import { StreamedTurn } from ${at("loop/model-turn.ts")};
import { Repeats } from ${at("loop/repeats.ts")};
import { Run } from ${at("loop/run.ts")};
import { RunSignal } from ${at("loop/run-signal.ts")};
import { Tally } from ${at("loop/tally.ts")};
import { ToolSet } from ${at("schema/compile.ts")};
const model = { id: "", provider: "", api: "", contextWindow: 1, maxOutputTokens: 1, input: [], thinking: [], tools: "none" };
const stream = () => streamOf([]);
const system = { stable: "" };
${use}
const Ready = Object.getPrototypeOf(streamOf([])).constructor;
const classes = { Conversation, Run, RunSignal, Snapshot, StreamedTurn, Tally, ToolSet, TurnCalls, Repeats, Ready, Agent };
for (const [name, one] of Object.entries(classes)) if (queryObjects(one, { format: "count" }) === 0) console.log(name);`;

async function without(use: string): Promise<string> {
  const flags = ["--no-warnings", "--input-type=module", "--eval", script(use)];
  return (await promisify(execFile)(process.execPath, flags)).stdout;
}

it("an object of each class that runs are made of outlives them", async () => {
  expect(await without('await new Agent({ model, stream, system }).prompt("hi");')).toBe("");
  const input = '[{ role: "user", content: "hi", timestamp: 0 }]';
  const loop = `await runAgentLoop({ system, tools: [], history: [], input: ${input} }, { model, stream }, () => {});`;
  expect(await without(loop)).toBe("Agent\n");
});
