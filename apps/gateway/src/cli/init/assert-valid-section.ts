import { formatProblem, type LoadedConfig } from "@signalbox/config";
import { GatewayError } from "@signalbox/home";
import { overlap } from "../config-places.ts";

/**
 * Refuses to continue if a section has errors: the loaded configuration omits those parts, so answers would silently
 * replace them.
 *
 * @param section for instance `models.providers.anthropic`
 * @throws GatewayError if the section has a problem
 */
export function assertValidSection({ problems }: LoadedConfig, part: string): void {
  const wrong = problems.filter(({ severity, path }) => severity === "error" && overlap(path, part));
  if (wrong.length > 0) throw new GatewayError("config", wrong.map(formatProblem).join("\n"));
}
