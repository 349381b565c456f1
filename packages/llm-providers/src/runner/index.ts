export type { Cooldowns, KeyState } from "./keys.ts";
export type { RetryPolicy } from "./plan.ts";
export type { Sleep } from "./run.ts";
export { type Account, createModelRunner, type ModelRunner, type RunnerOptions } from "./runner.ts";
