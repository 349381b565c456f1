export { sentMessage, shownMessage } from "./message-sent.ts";
export { countingHooks, OWN_HOOKS, type PointCounts } from "./own.ts";
export * from "./points.ts";
export { createGatewayHooks, type GatewayHooksOptions } from "./registry.ts";
export { createRunTeller } from "./run-teller.ts";
