import { type Client, type ConfigurationState, isClientError } from "@signalbox/client";
import { type LoadedConfig, type Problem, parseConfigPath } from "@signalbox/config";
import { GatewayError } from "@signalbox/home";
import { isHeld, runningGateway } from "./running.ts";

/**
 * Returns the settings in the configuration file that are not in effect in the running gateway, as problems. Empty if
 * no gateway is running or it does not respond.
 *
 * @param found problems that this process already reported
 */
export async function notApplied(
  home: string | undefined,
  loaded: LoadedConfig,
  found: readonly Problem[],
): Promise<Problem[]> {
  if (!isHeld(home)) return [];
  try {
    const { client } = await runningGateway(home);
    return notAppliedProblems(await readState(client), loaded, found);
  } catch (error) {
    if (error instanceof GatewayError || isClientError(error)) return [];
    throw error;
  }
}

async function readState(client: Client): Promise<ConfigurationState> {
  try {
    return (await client.status()).configuration;
  } catch (error) {
    // The gateway still uses the token that it was started with.
    if (isClientError(error) && error.status === 401)
      return { forStart: ["gateway.auth.token"], kept: [], errors: [] };
    throw error;
  }
}

function notAppliedProblems(
  { forStart, kept, errors }: ConfigurationState,
  { problem, file }: LoadedConfig,
  found: readonly Problem[],
): Problem[] {
  const atStart = forStart.map((key) =>
    problem(key.split("."), {
      severity: "warning",
      message: "changed since the gateway was started, and takes effect only after a restart",
      remedy: "Restart the gateway.",
    }),
  );
  // If the file is unreadable, the gateway keeps all sections, and the file name represents them.
  const asBefore = kept.map((section) =>
    problem(section === file ? [] : [section], {
      severity: "warning",
      message: "the running gateway keeps the previous settings, because it finds errors in the file",
      remedy:
        "Fix the errors. Sections that control access are applied together, so an error in one holds back the others.",
    }),
  );
  const isFound = (path: string, message: string): boolean =>
    found.some((known) => known.path === path && known.message === message);
  // The result depends on the reader's environment variables and file permissions.
  const thereAlone = errors
    .filter(({ path, message }) => !isFound(path, message))
    .map(({ path, message, remedy }) =>
      problem(path === "" ? [] : parseConfigPath(file, path), {
        severity: "error",
        message: `in the process of the running gateway, ${message}`,
        remedy: `${remedy} That process may lack a variable or a right that this one has: restart it with them.`,
      }),
    );
  return [...atStart, ...thereAlone, ...asBefore];
}
