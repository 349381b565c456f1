import { formatProblem, type LoadedConfig } from "@signalbox/config";
import { GatewayError } from "@signalbox/home";

/**
 * What is wrong has been left out of what was loaded, so that answers would take its place unseen.
 *
 * @param part for instance `models.providers.anthropic`
 * @throws GatewayError where something at the part is wrong
 */
export function refuseWrong({ problems }: LoadedConfig, part: string): void {
  const wrong = problems.filter(
    ({ severity, path }) => severity === "error" && (isWithin(path, part) || isWithin(part, path)),
  );
  if (wrong.length > 0) throw new GatewayError("config", wrong.map(formatProblem).join("\n"));
}

function isWithin(path: string, other: string): boolean {
  return path === other || path.startsWith(`${other}.`) || path.startsWith(`${other}[`);
}
