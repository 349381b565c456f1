export { GatewayError, type GatewayErrorCode } from "@signalbox/home";
export type { LiveEvent } from "@signalbox/protocol";
export type {
  GatewayService,
  LiveHub,
  Outcome,
  Submission,
  SubmitResult,
  TurnUsage,
} from "@signalbox/server";
export type { Reloaded } from "./configure/reload.ts";
export { type CreateGatewayOptions, createGateway, type EmbeddedGateway } from "./create-gateway.ts";
export type { Gateway } from "./gateway-options.ts";
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
} from "./hooks/hook-points.ts";
