import { codeOf, EXIT, GatewayError, messageOf } from "../errors.ts";
import { differences } from "./check.ts";
import { readScenario } from "./scenario.ts";
import { show } from "./show.ts";

/** `signalbox replay`: runs scenarios, shows every layer, and with `--check` compares with what they expect. */
export async function replay(
  files: readonly string[],
  options: { readonly json?: boolean; readonly check?: boolean },
): Promise<void> {
  const { perform } = await import("./perform.ts").catch((error: unknown) => {
    if (codeOf(error) !== "ERR_MODULE_NOT_FOUND" || !messageOf(error).includes("@signalbox/testkit"))
      throw error;
    throw new GatewayError(
      EXIT.failure,
      "The stand-ins are not installed. Install @signalbox/testkit beside the gateway.",
      { cause: error },
    );
  });
  let failed = 0;
  for (const file of files) {
    const scenario = readScenario(file);
    const performance = await perform(scenario);
    const found = differences(performance, scenario.expect);
    if (options.check === true) {
      if (found.length > 0) failed++;
      if (options.json === true)
        process.stdout.write(`${JSON.stringify({ name: performance.name, differences: found })}\n`);
      else
        process.stdout.write(
          [
            `${found.length === 0 ? "ok  " : "FAIL"} ${performance.name}`,
            ...found.map((line) => `     ${line}`),
            "",
          ].join("\n"),
        );
    } else if (options.json === true) process.stdout.write(`${JSON.stringify(performance, null, 2)}\n`);
    else process.stdout.write(`${show(performance)}\n`);
  }
  if (failed > 0)
    throw new GatewayError(
      EXIT.failure,
      `${failed} of ${files.length} scenarios went another way than expected.`,
    );
}
