import { afterAll, describe, expect, it } from "vitest";
import { runChannelConformance } from "../src/testkit/index.ts";
import { type EchoDefinition, echo } from "./echo.ts";
import { echoHarness } from "./echo-harness.ts";
import { previewing } from "./echo-preview.ts";
import { faults } from "./faults.ts";
import { faultsWithDrafts } from "./faults-with-drafts.ts";
import { faultsWithMedia } from "./faults-with-media.ts";
import { faultsWithPeople } from "./faults-with-people.ts";

const planted = [...faults, ...faultsWithDrafts, ...faultsWithMedia, ...faultsWithPeople];

runChannelConformance(echo, echoHarness, { test: { describe, it, afterAll }, print: () => {} });
describe("with drafts that are previews", () => {
  runChannelConformance(previewing(), echoHarness, { test: { describe, it, afterAll }, print: () => {} });
});

/** Runs the kit without a runner, all of it or one test, and gives its tests, those that failed, and the matrix. */
async function run(definition: EchoDefinition, { entry, only }: { entry?: URL; only?: string } = {}) {
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
    // The platform of these tests is in memory: what does not come at once never does.
    waitMs: 200,
    print: (text) => {
      matrix = text;
    },
  });
  const failed = new Map<string, string>();
  for (const [name, body] of tests.filter(([one]) => only === undefined || one === only))
    await body().catch((error: unknown) => failed.set(name, error instanceof Error ? error.message : ""));
  for (const body of last) body();
  return { tests: tests.map(([name]) => name), failed, matrix };
}

describe("the kit", () => {
  it.each(planted)("catches a channel that $fault", async ({ check, plant, entry }) => {
    const { failed, matrix } = await run(plant(echo), {
      only: check,
      ...(entry === undefined ? {} : { entry }),
    });
    expect([...failed.keys()]).toEqual([check]);
    expect(matrix).toContain(`| ${check.replace(": ", " | ")} | ✗ |`);
    expect(failed.get(check), "a failure says what was expected").not.toBe("");
  });

  it("finds nothing in a sound channel, and has a planted fault for each of its checks", async () => {
    const { failed, tests, matrix } = await run(echo);
    expect([...failed]).toEqual([]);
    const caught = new Set(planted.map(({ check }) => check));
    const asked = [...tests, ...(await run(previewing())).tests];
    expect(asked.filter((name) => !caught.has(name))).toEqual([]);
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
