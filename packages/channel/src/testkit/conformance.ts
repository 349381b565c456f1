import type { ChannelDefinition } from "../contract/definition.ts";
import { isChannelError } from "../contract/errors.ts";
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
import { receivingChecks } from "./checks-receiving.ts";
import { referenceChecks } from "./checks-references.ts";
import { sendingChecks } from "./checks-sending.ts";
import type { ChannelHarness } from "./harness.ts";

/** The functions of a test runner, such as vitest, node:test or jest. */
interface TestFunctions {
  describe(name: string, body: () => void): void;
  /** A runner with its own limit may ignore `timeoutMs`. */
  it(name: string, body: () => Promise<void>, timeoutMs: number): void;
  afterAll(body: () => void): void;
}

export interface ConformanceOptions {
  readonly test: TestFunctions;
  /** Checks to skip, each with a reason for the matrix. */
  readonly skip?: readonly { readonly check: string; readonly reason: string }[];
  /** The seed for random values, printed with the matrix. Default: 1. */
  readonly seed?: number;
  /** Time limit for asynchronous effects, in milliseconds. Default: 60,000. */
  readonly waitMs?: number;
  /** Receives the matrix as a Markdown table. Default: `console.log`. */
  readonly print?: (matrix: string) => void;
}

/** Time limit for a check in milliseconds. Generous, so that slow machines do not cause failures. */
const TIMEOUT_MS = 120_000;
const checks: readonly Check[] = [
  ...definitionChecks,
  ...receivingChecks,
  ...referenceChecks,
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
 * Declares a test for every requirement of the contract, and prints the results as a Markdown table. Checks of
 * capabilities that the channel does not claim do not apply. Any other check can be skipped only with a reason.
 *
 * @throws Error if `skip` contains an unknown check
 * @example
 * ```ts
 * import { afterAll, describe, it } from "vitest";
 *
 * runChannelConformance(mine, harness, { test: { describe, it, afterAll } });
 * ```
 */
export function runChannelConformance<Config, Address>(
  definition: ChannelDefinition<Config, Address>,
  harness: ChannelHarness<Address>,
  options: ConformanceOptions,
): void {
  const { test, seed = 1, waitMs = 60_000, skip = [], print = console.log } = options;
  const outcomes = new Map<Check, string>();
  const skipped = new Map(skip.map((one) => [one.check, one.reason]));
  for (const { check: name } of skip) {
    if (!checks.some((check) => check.name === name))
      throw new Error(`The conformance suite has no check "${name}".`);
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
        await check.run(subject).catch((error: unknown) => {
          throw withContext(error);
        });
        outcomes.set(check, "✓");
      };
      test.it(`${check.group}: ${check.name}`, run, TIMEOUT_MS);
    }
    test.afterAll(() => print(matrix(definition.id, seed, outcomes)));
  });
}

/** Adds context to an error that was not thrown by one of the check's expectations. */
function withContext(error: unknown): unknown {
  if (!isChannelError(error)) return error;
  return new Error(
    `A method of the channel failed unexpectedly with the code "${error.code}": ${error.message}.`,
    { cause: error },
  );
}

function matrix(id: string, seed: number, outcomes: ReadonlyMap<Check, string>): string {
  const rows = checks.map(
    (check) => `| ${check.group} | ${check.name} | ${outcomes.get(check) ?? "not run"} |`,
  );
  return [`| | ${id} (seed ${seed}) | |`, "| --- | --- | --- |", ...rows].join("\n");
}
