import type { ChannelDefinition } from "../contract/definition.ts";
import { openBench } from "./bench.ts";
import type { Check, Subject } from "./check.ts";
import { attachmentChecks } from "./checks-attachments.ts";
import { backfillChecks } from "./checks-backfill.ts";
import { changeChecks } from "./checks-changes.ts";
import { definitionChecks } from "./checks-definition.ts";
import { draftChecks } from "./checks-drafts.ts";
import { intakeChecks } from "./checks-intake.ts";
import { interactionChecks } from "./checks-interaction.ts";
import { lifecycleChecks } from "./checks-lifecycle.ts";
import { mediaChecks } from "./checks-media.ts";
import { peopleChecks } from "./checks-people.ts";
import { pollChecks } from "./checks-polls.ts";
import { previewChecks } from "./checks-previews.ts";
import { sendingChecks } from "./checks-sending.ts";
import type { ChannelHarness } from "./harness.ts";

/** The functions of a test runner: vitest's, node:test's and jest's fit. */
export interface TestFunctions {
  describe(name: string, body: () => void): void;
  /** A runner without a third parameter has its own limit. */
  it(name: string, body: () => Promise<void>, timeoutMs: number): void;
  afterAll(body: () => void): void;
}

export interface ConformanceOptions {
  readonly test: TestFunctions;
  /** Tests that are known not to hold, each with its reason, which goes into the matrix. */
  readonly skip?: readonly { readonly test: string; readonly reason: string }[];
  /** Of the random part. Default 1; printed with the matrix. */
  readonly seed?: number;
  /** How long what a channel does by itself may take, in milliseconds. Default 20,000: a slow machine is no fault. */
  readonly waitMs?: number;
  /** Takes the matrix, a Markdown table. Default: `console.log`. */
  readonly print?: (matrix: string) => void;
}

/** Generous: a slow machine is no reason to fail. */
const timeoutMs = 120_000;
const checks: readonly Check[] = [
  ...definitionChecks,
  ...intakeChecks,
  ...backfillChecks,
  ...sendingChecks,
  ...mediaChecks,
  ...changeChecks,
  ...interactionChecks,
  ...peopleChecks,
  ...draftChecks,
  ...previewChecks,
  ...attachmentChecks,
  ...pollChecks,
  ...lifecycleChecks,
];

/**
 * Declares a test for every requirement of the contract, and finally prints the outcomes as a Markdown table. What the
 * channel's capabilities rule out is not tested; anything else that is left out needs a reason.
 * @throws Error for a skip that names no test
 */
export function runChannelConformance<Config, Address>(
  definition: ChannelDefinition<Config, Address>,
  harness: ChannelHarness<Address>,
  options: ConformanceOptions,
): void {
  const { test, seed = 1, waitMs = 20_000, skip = [], print = console.log } = options;
  const outcomes = new Map<Check, string>();
  const skipped = new Map(skip.map((one) => [one.test, one.reason]));
  for (const { test: name } of skip) {
    if (!checks.some((check) => check.name === name))
      throw new Error(`The conformance kit has no test "${name}".`);
  }
  const subject: Subject<Config, Address> = {
    definition,
    harness,
    seed,
    waitMs,
    open: (open) => openBench(definition, harness, open),
  };
  test.describe(`conformance of ${definition.id}`, () => {
    for (const check of checks) {
      const reason = skipped.get(check.name) ?? check.applies?.(definition);
      if (reason !== undefined) {
        outcomes.set(check, skipped.has(check.name) ? `skipped: ${reason}` : `– ${reason}`);
        continue;
      }
      const run = async () => {
        outcomes.set(check, "✗");
        await check.run(subject);
        outcomes.set(check, "✓");
      };
      test.it(`${check.group}: ${check.name}`, run, timeoutMs);
    }
    test.afterAll(() => print(matrix(definition.id, seed, outcomes)));
  });
}

function matrix(id: string, seed: number, outcomes: ReadonlyMap<Check, string>): string {
  const rows = checks.map(
    (check) => `| ${check.group} | ${check.name} | ${outcomes.get(check) ?? "not run"} |`,
  );
  return [`| | ${id} (seed ${seed}) | |`, "| --- | --- | --- |", ...rows].join("\n");
}
