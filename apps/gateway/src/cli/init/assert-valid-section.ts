import { formatProblem, type LoadedConfig } from "@signalbox/config";
import { GatewayError } from "@signalbox/home";
import { overlap } from "../config-places.ts";

/**
 * Throws if a section has errors. The loaded configuration omits the invalid settings, so answers would silently
 * replace them.
 *
 * @param section for example `models.providers.anthropic`
 * @throws GatewayError if the section has a problem
 */
export function assertValidSection({ problems }: LoadedConfig, part: string): void {
  const wrong = problems.filter(({ severity, path }) => severity === "error" && overlap(path, part));
  if (wrong.length > 0) throw new GatewayError("config", wrong.map(formatProblem).join("\n"));
}
