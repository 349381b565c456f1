export { createHooks, type GateResult, type HookFailure, type Hooks, type HooksOptions } from "./hooks.ts";
export { createHttpHook, type HttpHookOptions } from "./http-hook.ts";
export type {
  AnyPoint,
  AnyPoints,
  Change,
  Gated,
  GateVerdict,
  Hook,
  HookAt,
  Modified,
  Observed,
  Payload,
  PointDefinition,
  PointDefinitions,
  PointOf,
  UncheckedHook,
} from "./points.ts";
export type { StartTimer } from "./time-limit.ts";
