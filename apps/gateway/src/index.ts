export { type CreateGatewayOptions, createGateway, type EmbeddedGateway } from "./create-gateway.ts";
export { EXIT, GatewayError } from "./errors.ts";
export type { Gateway } from "./gateway.ts";
export {
  type AfterToolCall,
  type BeforeModelResolve,
  type BeforePromptBuild,
  type BeforeReply,
  type BeforeToolCall,
  type GatewayHook,
  HOOK_POINTS,
  type HookPoint,
  type HookPoints,
  type MessageReceived,
  type MessageSent,
  type RunEnded,
} from "./hooks/points.ts";
export type { LiveEvent, LiveHub, RunEnd } from "./service/live.ts";
export type { GatewayService, Outcome, RunUsage, Submission, Submitted } from "./service/service.ts";
