export * from "./points.ts";
export { createGatewayHooks, type GatewayHooksOptions } from "./registry.ts";
