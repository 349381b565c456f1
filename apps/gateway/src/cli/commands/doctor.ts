import { reasonOf } from "@signalbox/agent-core";
import { GatewayError, locateHome } from "@signalbox/home";
import type { CommonOptions } from "../common-options.ts";
import { configuredHome } from "../configured-home.ts";
import { checkConfiguration } from "../doctor/configuration.ts";
import type { Finding } from "../doctor/finding.ts";
import { checkGateway } from "../doctor/gateway.ts";
import { checkMachine } from "../doctor/machine.ts";
import { checkSecurity } from "../doctor/security.ts";
import { checkStoredData } from "../doctor/stored.ts";
import type { GatewayHost } from "../host.ts";
import { print } from "../output.ts";

/**
 * `signalbox doctor`: checks everything that a gateway needs and prints a line with a remedy for each problem. `--fix`
 * applies safe fixes, and `--security` reviews only what concerns security. The exit code is 1 if a problem remains.
 */
export async function doctor(
  options: CommonOptions & { readonly fix?: boolean; readonly models?: boolean; readonly security?: boolean },
  host: GatewayHost,
): Promise<void> {
  const home = locateHome(options.home, process.env);
  const findings = (
    options.security === true
      ? await checkSecurity(configuredHome(options), host)
      : [
          ...(await checkMachine(home, Date.now)),
          ...(await checkGateway(home, options.models === true)),
          ...(await checkStoredData(home, Date.now)),
          ...(await checkConfiguration(home, host)),
        ]
  ).map((finding) => (options.fix === true ? fixed(finding) : finding));
  print(options.json, findings, () =>
    findings.flatMap(({ part, state, detail, remedy }) => [
      `${state.padEnd(7)} ${part}: ${detail}`,
      ...(remedy === undefined || state === "ok" ? [] : [`        ${remedy}`]),
    ]),
  );
  if (findings.some((finding) => finding.state === "error"))
    throw new GatewayError("failure", "Some checks failed.");
}

function fixed(finding: Finding): Finding {
  if (finding.fix === undefined) return finding;
  const { part, detail } = finding;
  try {
    return { part, state: "ok", detail: `${detail}: ${finding.fix()}` };
  } catch (error) {
    return { ...finding, state: "error", detail: `${detail}; could not be fixed: ${reasonOf(error)}` };
  }
}
