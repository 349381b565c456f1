import { type Client, type ConfigurationState, isClientError } from "@signalbox/client";
import type { LoadedConfig, Problem } from "@signalbox/config";
import { GatewayError } from "@signalbox/home";
import { isHeld, runningGateway } from "./running.ts";

/**
 * What of a file does not apply to the gateway that runs, as problems of that file; none where none runs or answers.
 */
export async function notApplied(home: string | undefined, loaded: LoadedConfig): Promise<Problem[]> {
  if (!isHeld(home)) return [];
  try {
    const { client } = await runningGateway(home);
    return notAppliedProblems(await stateOf(client), loaded);
  } catch (error) {
    if (error instanceof GatewayError || isClientError(error)) return [];
    throw error;
  }
}

async function stateOf(client: Client): Promise<ConfigurationState> {
  try {
    return (await client.status()).configuration;
  } catch (error) {
    // The gateway goes by the token that it was started with.
    if (isClientError(error) && error.status === 401) return { forStart: ["gateway.auth.token"], kept: [] };
    throw error;
  }
}

function notAppliedProblems(
  { forStart, kept }: ConfigurationState,
  { problem, file }: LoadedConfig,
): Problem[] {
  const atStart = forStart.map((key) =>
    problem(key.split("."), {
      severity: "warning",
      message: "changed since the gateway was started, and takes effect only after a restart",
      remedy: "Restart the gateway.",
    }),
  );
  // A file that cannot be read is kept as a whole, and named in the place of a section.
  const asBefore = kept.map((section) =>
    problem(section === file ? [] : [section], {
      severity: "warning",
      message: "the running gateway keeps the previous settings, because the file has errors",
      remedy:
        "Fix the errors. Sections that control access are applied together, so an error in one holds back the others.",
    }),
  );
  return [...atStart, ...asBefore];
}
