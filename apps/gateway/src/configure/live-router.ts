import { createRouter, type Router, type RouterOptions } from "@signalbox/routing";
import type { LiveSetup } from "./live-setup.ts";
import { routingConfig } from "./routing.ts";

/** Routes by the bindings that apply when a message comes. */
export function createLiveRouter(configuration: Pick<LiveSetup, "derived">, options: RouterOptions): Router {
  return configuration.derived(({ loaded, resolved: { agents } }) =>
    createRouter(routingConfig(loaded.config, agents), options),
  );
}
