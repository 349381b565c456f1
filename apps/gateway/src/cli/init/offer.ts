import { existsSync } from "node:fs";
import { type Env, type Home, locateHome } from "@signalbox/home";
import { KEY_VARIABLES } from "@signalbox/llm-providers";
import type { CommonOptions } from "../common-options.ts";
import type { GatewayHost } from "../host.ts";
import { askTerminal } from "./asker.ts";
import { setUp } from "./init.ts";

/** Offers setup before the first start. If the person declines, the demo model answers. */
export async function offerInit(options: CommonOptions, host: GatewayHost): Promise<void> {
  if (isSetUp(locateHome(options.home, process.env), process.env)) return;
  const asker = await askTerminal();
  if (
    await asker.confirm(
      "Nothing is set up yet. Set up a model and a channel now? (If not, the demo model answers)",
    )
  )
    for (const failure of (await setUp(options, host, asker)).failures) asker.say(failure);
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
