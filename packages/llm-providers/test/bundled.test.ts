import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startAnthropic } from "@signalbox/testkit/anthropic";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";
import { testModel } from "./support/fixtures.ts";

const source = new URL("../src/anthropic/index.ts", import.meta.url);
const model = testModel("anthropic-messages", "claude-sonnet-4-6");

/** One turn in a process of its own, over the adapter at `from`. */
async function turnOf(from: string, cwd: string, before = ""): Promise<string> {
  const standIn = await startAnthropic({ script: () => ({ text: "Here I am." }) });
  const program = `${before}
const { anthropicMessages } = await import(${JSON.stringify(from)});
const stream = anthropicMessages.connect({ apiKey: "k", baseUrl: ${JSON.stringify(standIn.url)} });
const context = { system: { stable: "" }, messages: [{ role: "user", content: "Hi.", timestamp: 0 }], tools: [] };
for await (const event of stream(${JSON.stringify(model)}, context))
  if (event.type === "text.delta") process.stdout.write(event.delta);
  else if (event.type === "error") process.stdout.write(event.error.message);`;
  try {
    const flags = ["--no-warnings", "--input-type=module", "-e", program];
    return (await promisify(execFile)(process.execPath, flags, { cwd })).stdout;
  } finally {
    await standIn.stop();
  }
}

test("a program that was bundled has its SDK with it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-bundled-"));
  try {
    const bundle = await rolldown({ input: fileURLToPath(source), platform: "node" });
    await bundle.write({ dir: folder, format: "esm" });
    await bundle.close();
    await writeFile(join(folder, "package.json"), '{"type":"module"}');
    expect(await turnOf(join(folder, "index.js"), folder)).toBe("Here I am.");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("where the SDK cannot be required, it is imported", async () => {
  const deny = `
import { registerHooks } from "node:module";
registerHooks({ resolve(name, context, next) {
  if (name === "@anthropic-ai/sdk" && context.conditions.includes("require")) throw new Error("not here");
  return next(name, context);
} });`;
  expect(await turnOf(source.href, fileURLToPath(new URL("..", import.meta.url)), deny)).toBe("Here I am.");
});
