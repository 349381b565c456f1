import { existsSync } from "node:fs";
import { type Env, type Home, locateHome } from "@signalbox/home";
import { KEY_VARIABLES } from "@signalbox/llm-providers";
import type { CommonOptions } from "../common-options.ts";
import type { GatewayHost } from "../host.ts";
import { askTerminal } from "./asker.ts";
import { setUp } from "./init.ts";
import { isInterruptedAt, readSavedAnswers } from "./saved-answers.ts";

/**
 * Offers setup before the first start, and to continue a setup that was interrupted. If the person declines, the
 * gateway starts as it is; without a model, the demo model answers.
 */
export async function offerInit(options: CommonOptions, host: GatewayHost): Promise<void> {
  const home = locateHome(options.home, process.env);
  const progress = readSavedAnswers(home);
  const isInterrupted = isInterruptedAt(progress);
  if (!isInterrupted && isSetUp(home, process.env)) return;
  const asker = await askTerminal();
  const isAgreed = await asker.confirm(
    isInterrupted
      ? "The setup was interrupted. Continue it now? (If not, the gateway starts as it is)"
      : "Nothing is set up yet. Set up a model and a channel now? (If not, the demo model answers)",
  );
  if (!isAgreed) {
    if (isInterrupted) progress.clear();
    return;
  }
  const { failures } = await setUp({ ...options, resume: true }, host, asker);
  for (const failure of failures) asker.say(failure);
}

/** Returns true if there is a configuration, or if the environment contains a provider's key. */
function isSetUp({ configFile }: Home, env: Env): boolean {
  return (
    existsSync(configFile) ||
    Object.values(KEY_VARIABLES)
      .flat()
      .some((name) => env[name])
  );
}
