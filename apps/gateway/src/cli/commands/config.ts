import { existsSync } from "node:fs";
import { reasonOf } from "@signalbox/agent-core";
import {
  ConfigError,
  configJsonSchema,
  formatProblem,
  type Problem,
  parseConfigPath,
} from "@signalbox/config";
import {
  changeConfig,
  configVersions,
  GatewayError,
  locateHome,
  openVault,
  restoreConfig,
} from "@signalbox/home";
import { redactJson } from "@signalbox/redaction";
import { parse, stringify } from "yaml";
import type { CommonOptions } from "../common-options.ts";
import { overlap } from "../config-places.ts";
import { configOrExit, configuredHome } from "../configured-home.ts";
import type { ConfiguredHome, GatewayHost, PreparedGateway } from "../host.ts";
import { print } from "../output.ts";
import { isHeld } from "../running.ts";
import { notApplied } from "../running-configuration.ts";

/**
 * `signalbox config check`: prints every problem with file, line, key and remedy. The exit code is 78 if there is an
 * error. With `--strict`, ignored settings such as misspelled keys are errors too.
 */
export async function check(
  options: CommonOptions & { readonly strict?: boolean },
  host: GatewayHost,
): Promise<void> {
  const { configFile: file } = locateHome(options.home, process.env);
  const problems = await findProblems(options, async (configured) => {
    const { setup } = await prepare(configured, host);
    const { problems } = setup;
    return [...problems, ...(await notApplied(options.home, configured.loaded, problems))];
  });
  print(options.json, problems, () =>
    problems.length === 0
      ? [existsSync(file) ? `${file}: no problems.` : `${file} does not exist; the defaults apply.`]
      : problems.map((problem) => `${problem.severity}: ${formatProblem(problem)}`),
  );
  const errors = problems.filter((problem) => problem.severity === "error").length;
  if (errors > 0) throw new GatewayError("config", `${errors} error${errors === 1 ? "" : "s"} in ${file}.`);
  const ignored = problems.filter((problem) => problem.ignored === true).length;
  if (options.strict === true && ignored > 0)
    throw new GatewayError("config", `${ignored} ignored setting${ignored === 1 ? "" : "s"} in ${file}.`);
}

/** Finds all problems. If the gateway could not start with the file, returns only the problems in the file itself. */
async function findProblems(
  options: CommonOptions,
  look: (configured: ConfiguredHome) => Promise<readonly Problem[]>,
): Promise<readonly Problem[]> {
  try {
    return await look(configuredHome(options));
  } catch (error) {
    if (error instanceof GatewayError && error.cause instanceof ConfigError) return error.cause.problems;
    throw error;
  }
}

/**
 * `signalbox config schema`: prints the schema, including the settings of all channels, even those from installed
 * packages.
 */
export async function schema(options: CommonOptions, host: GatewayHost): Promise<void> {
  const { accounts } = (await prepare(configuredHome(options), host)).setup;
  process.stdout.write(`${JSON.stringify(configJsonSchema(accounts.definitions), null, 2)}\n`);
}

/** `signalbox config show`: prints the effective configuration with defaults and without secrets, as YAML or JSON. */
export async function show(options: CommonOptions): Promise<void> {
  const { loaded, env } = configuredHome(options);
  const { redact } = openVault(loaded, env);
  const { hooks, pointHooks, ...config } = loaded.config;
  const written = { ...config, hooks: { ...hooks, ...pointHooks } };
  const applied = redactJson(JSON.parse(JSON.stringify(written)), redact);
  print(options.json, applied, () => [stringify(applied).trimEnd()]);
}

/**
 * `signalbox config set <path> <value>`: the value is YAML. Comments, order and references in the file are preserved.
 */
export async function set(
  path: string,
  value: string,
  options: CommonOptions,
  host: GatewayHost,
): Promise<void> {
  await change(path, readValue(value), options, host);
}

function readValue(text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw new GatewayError(
      "usage",
      `The value is not valid YAML: ${reasonOf(error)} Quote text so that the shell keeps the quotes, as in '"a: b"'.`,
    );
  }
}

/** `signalbox config unset <path>` */
export async function unset(path: string, options: CommonOptions, host: GatewayHost): Promise<void> {
  await change(path, undefined, options, host);
}

async function change(
  path: string,
  value: unknown,
  options: CommonOptions,
  host: GatewayHost,
): Promise<void> {
  const home = locateHome(options.home, process.env);
  const edit = { path: parseConfigPath(home.configFile, path), value };
  // References to tools and packages can only be validated by resolving the configuration.
  const look = () =>
    findProblems(options, async (configured) => (await prepare(configured, host)).setup.problems);
  const before = new Set((await look()).map((problem) => `${problem.path} ${problem.message}`));
  configOrExit(() => changeConfig(home, process.env, [edit], new Date()));
  const problems = (await look()).filter(
    (problem) => overlap(problem.path, path) || !before.has(`${problem.path} ${problem.message}`),
  );
  print(options.json, { changed: path, problems }, () => [changed(options, `Changed: ${path}.`)]);
  if (options.json !== true)
    for (const problem of problems) process.stderr.write(`${problem.severity}: ${formatProblem(problem)}\n`);
  if (problems.some(({ severity }) => severity === "error"))
    throw new GatewayError("config", `${path} was changed, but does not work yet.`);
}

/** `signalbox config history`: lists the versions of the file before each change by the program. */
export async function history(options: CommonOptions): Promise<void> {
  const home = locateHome(options.home, process.env);
  const versions = configVersions(home);
  print(options.json, versions, () =>
    versions.length === 0
      ? ["There are no earlier versions."]
      : [
          ...versions.map(({ id, file }) => `${id}  ${file}`),
          `Compare one with the current file: \`diff <file> ${home.configFile}\`. Restore one: \`signalbox config rollback <version>\`.`,
        ],
  );
}

/** `signalbox config rollback <version>` */
export async function rollback(version: string, options: CommonOptions): Promise<void> {
  restoreConfig(locateHome(options.home, process.env), version, new Date());
  const done = `Restored the configuration of ${version}.`;
  print(options.json, { changed: version }, () => [changed(options, done)]);
}

/** Describes a change and when it takes effect. */
function changed(options: CommonOptions, done: string): string {
  return isHeld(options.home)
    ? `${done} The running gateway reads it within a second; \`signalbox status\` says what of it needs a restart.`
    : done;
}

/** Resolves the configuration in the same way as a gateway. */
function prepare(configured: ConfiguredHome, host: GatewayHost): Promise<PreparedGateway> {
  return host.prepare(configured, openVault(configured.loaded, configured.env), { level: "silent" });
}
