export { type CreateGatewayOptions, createGateway, type EmbeddedGateway } from "./create-gateway.ts";
export { EXIT, GatewayError } from "./errors.ts";
export type { Gateway } from "./gateway.ts";
export type { LiveEvent, LiveHub, RunEnd } from "./live.ts";
export type { GatewayService, Outcome, RunUsage, Submission, Submitted } from "./service.ts";
