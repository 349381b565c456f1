import { createRouter, type Router, type RouterOptions } from "@signalbox/routing";
import type { LiveConfig } from "./live-config.ts";
import { routingConfig } from "./routing.ts";

/** Returns a getter for the router that uses the bindings in effect. */
export function createLiveRouter(config: LiveConfig, options: RouterOptions): () => Router {
  return config.derived(({ settings, agents }) => createRouter(routingConfig(settings, agents), options));
}
