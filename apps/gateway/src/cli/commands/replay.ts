import { reasonOf } from "@signalbox/agent-core";
import { GatewayError } from "@signalbox/home";
import type { CommonOptions } from "../common-options.ts";
import { getErrorCode } from "../errors.ts";
import type { GatewayHost } from "../host.ts";

/**
 * `signalbox replay`: replays scenarios and prints every stage. `--check` compares the result with the expectations.
 */
export async function replay(
  files: readonly string[],
  options: CommonOptions & { readonly check?: boolean },
  host: GatewayHost,
): Promise<void> {
  const { differences, perform, readScenario, ScenarioError, show } = await loadReplay();
  const replayHost = await host.replay();
  let failed = 0;
  for (const file of files) {
    const scenario = rethrow(ScenarioError, () => readScenario(file));
    const performance = await perform(scenario, replayHost);
    if (options.check !== true) {
      print(options.json === true ? JSON.stringify(performance, null, 2) : show(performance));
      continue;
    }
    const { name } = performance;
    const lines = differences(performance, scenario.expect);
    if (lines.length > 0) failed++;
    if (options.json === true) print(JSON.stringify({ name, differences: lines }));
    else
      print(
        [`${lines.length === 0 ? "ok  " : "FAIL"} ${name}`, ...lines.map((line) => `     ${line}`)].join(
          "\n",
        ),
      );
  }
  if (failed > 0)
    throw new GatewayError("failure", `${failed} of ${files.length} scenarios did not go as expected.`);
}

/** Loads the fake servers, which are in an optional package that only this command needs. */
async function loadReplay(): Promise<typeof import("@signalbox/testkit/replay")> {
  try {
    return await import("@signalbox/testkit/replay");
  } catch (error) {
    if (getErrorCode(error) !== "ERR_MODULE_NOT_FOUND" || !reasonOf(error).includes("@signalbox/testkit"))
      throw error;
    throw new GatewayError(
      "failure",
      "The fake servers are not installed. Install @signalbox/testkit next to the gateway.",
      { cause: error },
    );
  }
}

/** Reports an invalid scenario file as a usage error. */
function rethrow<T>(ScenarioError: new () => Error, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    throw new GatewayError("usage", error.message, { cause: error });
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
