import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
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

/** Runs one turn in its own process, with the provider at `from`. */
async function turnOf(from: string, cwd: string): Promise<string> {
  const fakeServer = await startAnthropic({ script: () => ({ text: "Here I am." }) });
  const program = `
const { anthropicMessages } = await import(${JSON.stringify(from)});
const stream = anthropicMessages.connect({ apiKey: "k", baseUrl: ${JSON.stringify(fakeServer.url)} });
const context = { system: { stable: "" }, messages: [{ role: "user", content: "Hi.", timestamp: 0 }], tools: [] };
for await (const event of stream(${JSON.stringify(model)}, context))
  if (event.type === "text.delta") process.stdout.write(event.delta);
  else if (event.type === "error") process.stdout.write(event.error.message);`;
  try {
    const flags = ["--no-warnings", "--input-type=module", "-e", program];
    return (await promisify(execFile)(process.execPath, flags, { cwd })).stdout;
  } finally {
    await fakeServer.stop();
  }
}

test("a bundled program contains the SDK", async () => {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-bundled-"));
  try {
    const bundle = await rolldown({ input: fileURLToPath(source), platform: "node" });
    await bundle.write({ dir: folder, format: "esm" });
    await bundle.close();
    await writeFile(join(folder, "package.json"), '{"type":"module"}');
    // A package next to the bundle is not used.
    const planted = join(folder, "node_modules", "@anthropic-ai", "sdk");
    await mkdir(planted, { recursive: true });
    await writeFile(join(planted, "index.js"), 'throw new Error("planted");');
    expect(await turnOf(join(folder, "index.js"), folder)).toBe("Here I am.");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
