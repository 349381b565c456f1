import { formatProblem, type LoadedConfig } from "@signalbox/config";
import { GatewayError } from "@signalbox/home";
import { overlap } from "../config-places.ts";

/**
 * What is wrong has been left out of what was loaded, so that answers would take its place unseen.
 *
 * @param part for instance `models.providers.anthropic`
 * @throws GatewayError where something at the part is wrong
 */
export function refuseWrong({ problems }: LoadedConfig, part: string): void {
  const wrong = problems.filter(({ severity, path }) => severity === "error" && overlap(path, part));
  if (wrong.length > 0) throw new GatewayError("config", wrong.map(formatProblem).join("\n"));
}
