import { GatewayError } from "@signalbox/home";
import type { CommonOptions } from "../common-options.ts";
import { configuredHome } from "../configured-home.ts";
import type { GatewayHost } from "../host.ts";
import { print } from "../output.ts";

/** `signalbox skills list`: what each agent can use. */
export async function list(options: CommonOptions, host: GatewayHost): Promise<void> {
  const rows = (await host.skills(configuredHome(options))).flatMap(({ agent, usable }) =>
    usable.map(({ id, description, source, file, version }) => {
      return { agent, id, description, source, file, version };
    }),
  );
  print(options.json, rows, () =>
    rows.map((row) => `${row.agent}  ${row.id} (${row.source})  ${row.description}`),
  );
}

/** `signalbox skills check`: what cannot be used, and why; exit code 1 when something is wrong. */
export async function check(options: CommonOptions, host: GatewayHost): Promise<void> {
  const skills = await host.skills(configuredHome(options));
  const reports = skills.map(({ agent, check }) => ({ agent, ...check }));
  print(options.json, reports, () =>
    reports.flatMap(({ agent, skills: found, problems, unknown }) => [
      ...found.map(({ skill, eligible, reasons }) =>
        eligible
          ? `ok    ${agent}  ${skill.id}`
          : `out   ${agent}  ${skill.id}: ${reasons.map((one) => one.message).join(" ")}`,
      ),
      ...problems.map((problem) => `${problem.severity.padEnd(5)} ${problem.path}: ${problem.message}`),
      ...unknown.map((name) => `error ${agent} names the skill ${name}, which does not exist`),
    ]),
  );
  if (reports.some((one) => !one.ok)) throw new GatewayError("failure", "Some skills are wrong.");
}
