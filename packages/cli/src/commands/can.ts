import { GatewayError } from "@signalbox/home";
import type { CommonOptions } from "../common-options.ts";
import { configuredHome } from "../configured-home.ts";
import type { GatewayHost, UseAnswer } from "../host.ts";
import { print } from "../output.ts";

type CanOptions = CommonOptions & { readonly in?: string; readonly account: string };

/** `signalbox can <sender> <tool>`: whether somebody may use a tool, and by which rule; exit code 1 where not. */
export async function can(
  sender: string,
  tool: string,
  options: CanOptions,
  host: GatewayHost,
): Promise<void> {
  const { in: group, account } = options;
  const asked = { sender, tool, account, ...(group === undefined ? {} : { group }) };
  const answer = await host.can(configuredHome(options), asked).catch((error: unknown) => {
    throw new GatewayError("failure", error instanceof Error ? error.message : String(error));
  });
  print(options.json, answer, () => linesOf(answer, sender, tool));
  if (!answer.uses.some(({ decision }) => decision !== "deny"))
    throw new GatewayError("failure", `${sender} cannot use ${tool} there.`);
}

function linesOf({ agent, gate, role, uses }: UseAnswer, sender: string, tool: string): string[] {
  if (role === undefined) return [`${sender} is not answered by ${agent}: ${gate.kind} (${gate.rule}).`];
  const lines = uses.map(({ tainted, reachesFor, decision, rule, reason }) => {
    const when = tainted ? "after others' words" : "at first";
    const what = reachesFor === undefined ? tool : `${tool}, to ${reachesFor}`;
    return `${decision.padEnd(5)} ${what}, ${when} (${rule}): ${reason}`;
  });
  return [`${sender} is answered by ${agent} as ${role} (${gate.rule}).`, ...lines];
}
