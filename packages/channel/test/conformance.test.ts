import { afterAll, describe, expect, it } from "vitest";
import { runChannelConformance } from "../src/testkit/index.ts";
import { type EchoDefinition, echo } from "./echo.ts";
import { handedOver } from "./echo-handed-over.ts";
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

describe("with an intake that is handed over", () => {
  runChannelConformance(handedOver(), echoHarness, { test: { describe, it, afterAll }, print: () => {} });
});

/** Runs the suite, or one check of it, without a test runner. Returns the checks, the failures and the matrix. */
async function run(
  definition: EchoDefinition,
  {
    entry,
    only,
    harness: given = echoHarness,
  }: { entry?: URL; only?: string; harness?: typeof echoHarness } = {},
) {
  const tests: [string, () => Promise<void>][] = [];
  const last: (() => void)[] = [];
  let matrix = "";
  const { sdk = [] } = echoHarness.entry ?? {};
  const harness = entry === undefined ? given : { ...given, entry: { url: entry.href, sdk } };
  runChannelConformance(definition, harness, {
    test: {
      describe: (_name, body) => body(),
      it: (name, body) => void tests.push([name, body]),
      afterAll: (body) => void last.push(body),
    },
    // The fake platform is in memory, so nothing takes longer.
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

describe("the conformance suite", () => {
  it.each(planted)("catches a channel that $fault", async ({ check, plant, entry }) => {
    const { failed, matrix } = await run(plant(echo), { only: check, entry });
    expect([...failed.keys()]).toEqual([check]);
    expect(matrix).toContain(`| ${check.replace(": ", " | ")} | ✗ |`);
    // A sentence that says what was wrong, not only two values.
    expect(failed.get(check)).toMatch(/^[A-Z"a-z].{30,}\.$/s);
  });

  it("says what a channel that accepts forged requests did wrong", async () => {
    const fault = planted.find(({ check }) => check === "signatures: rejects forged requests");
    const { failed } = await run(fault?.plant(echo) ?? echo, { only: fault?.check ?? "" });
    expect(failed.get("signatures: rejects forged requests")).toBe(
      "The channel must reject a request without a signature, but its HTTP status is wrong. " +
        "Expected 400 or 401 or 403, but got 200.",
    );
  });

  it("passes for a correct channel, and has a planted fault for each check", async () => {
    const { failed, tests, matrix } = await run(echo);
    expect([...failed]).toEqual([]);
    const caught = new Set(planted.map(({ check }) => check));
    const declared = [...tests, ...(await run(previewing())).tests, ...(await run(handedOver())).tests];
    expect(declared.filter((name) => !caught.has(name))).toEqual([]);
    expect(matrix).toContain("| attachments | rejects attachments if it claims none | – accepts some |");
  });

  it("skips the message of another bot if the platform has no bots, and acknowledgements if it has none", async () => {
    const check = "receiving: marks its own messages and those of other bots";
    const harness = { ...echoHarness, hasBots: false };
    expect([...(await run(echo, { only: check, harness })).failed]).toEqual([]);
    const all = (await run(echo, { only: "none" })).tests;
    const { tests } = await run(handedOver(), { only: "none" });
    expect(all.filter((name) => !tests.includes(name))).toEqual([
      "receiving: does not acknowledge rejected or failed events",
    ]);
  });

  it("rejects a skip of an unknown check", () => {
    const skip = [{ check: "flies", reason: "no wings" }];
    const test = { describe: () => {}, it: () => {}, afterAll: () => {} };
    expect(() => runChannelConformance(echo, echoHarness, { test, skip })).toThrow("flies");
  });
});
