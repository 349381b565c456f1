import { afterAll, describe, expect, it } from "vitest";
import { runChannelConformance } from "../src/testkit/index.ts";
import { type EchoDefinition, echo, echoHarness } from "./echo.ts";
import { faults } from "./faults.ts";

runChannelConformance(echo, echoHarness, { test: { describe, it, afterAll }, print: () => {} });

/** Runs the kit without a runner, and gives all its tests, those that failed, and the matrix. */
async function run(definition: EchoDefinition, entry?: URL) {
  const tests: [string, () => Promise<void>][] = [];
  const last: (() => void)[] = [];
  let matrix = "";
  const { sdk = [] } = echoHarness.entry ?? {};
  const harness = entry === undefined ? echoHarness : { ...echoHarness, entry: { url: entry.href, sdk } };
  runChannelConformance(definition, harness, {
    test: {
      describe: (_name, body) => body(),
      it: (name, body) => void tests.push([name, body]),
      afterAll: (body) => void last.push(body),
    },
    print: (text) => {
      matrix = text;
    },
  });
  const failed = new Map<string, string>();
  for (const [name, body] of tests)
    await body().catch((error: unknown) => failed.set(name, error instanceof Error ? error.message : ""));
  for (const body of last) body();
  return { tests: tests.map(([name]) => name), failed, matrix };
}

describe("the kit", () => {
  it.each(faults)("catches a channel that $fault", async ({ check, plant, entry }) => {
    const { failed, matrix } = await run(plant(echo), entry);
    expect([...failed.keys()]).toContain(check);
    expect(matrix).toContain(`| ${check.replace(": ", " | ")} | ✗ |`);
    expect(failed.get(check), "a failure says what was expected").not.toBe("");
  });

  it("finds nothing in a sound channel, and has a planted fault for each of its checks", async () => {
    const { failed, tests, matrix } = await run(echo);
    expect([...failed]).toEqual([]);
    const planted = new Set(faults.map(({ check }) => check));
    expect(tests.filter((name) => !planted.has(name))).toEqual([]);
    expect(matrix).toContain(
      "| attachments | refuses an attachment, as its capabilities say | – takes some |",
    );
  });

  it("refuses a skip that names no test", () => {
    const skip = [{ test: "flies", reason: "no wings" }];
    const test = { describe: () => {}, it: () => {}, afterAll: () => {} };
    expect(() => runChannelConformance(echo, echoHarness, { test, skip })).toThrow("flies");
  });
});
