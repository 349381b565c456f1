import type { ProviderConfig } from "../provider.ts";
import { FailureError, failure } from "../stream/errors.ts";

/**
 * The vendor itself asks for a key; a server of one's own may not.
 *
 * @throws FailureError (`auth`) when neither a key nor another address is set.
 */
export function requireKey(config: ProviderConfig, vendor: string): void {
  if (config.apiKey === undefined && config.baseUrl === undefined)
    throw new FailureError(failure("auth", `No API key is set for ${vendor}.`));
}
