export { type Adapted, adapt } from "./adapt/adapt.ts";
export type { AdaptOptions } from "./adapt/convert.ts";
export * from "./catalogue/catalogue.ts";
export { costMicros, pricesFor, reportedUsage, type TokenCounts } from "./cost.ts";
export {
  classify,
  classifyException,
  type Failure,
  FailureError,
  type FailureFacts,
  failure,
} from "./failure/failure.ts";
export type { ModelProblem, ProviderEntries, ProviderEntry } from "./models/accounts.ts";
export type { Answer, AnswerStream } from "./models/answer.ts";
export * from "./models/create-models.ts";
export * from "./provider/define-provider.ts";
export type { EventReader } from "./provider/event-stream.ts";
export { defaultFetch, responseBytes } from "./provider/http.ts";
export * from "./provider/provider.ts";
export { loadSdk } from "./provider/sdk.ts";
export type { Cooldowns, KeyState } from "./runner/keys.ts";
export type { RetryPolicy } from "./runner/plan.ts";
export type { Sleep } from "./runner/run.ts";
export * from "./runner/runner.ts";
export type { Loss, LossKind, Warn, WarningCode } from "./shared/warnings.ts";
export { withTextTools } from "./text-tools/stream.ts";
export type { TurnWriter } from "./turn/record.ts";
export { modelTurn, type ReadTurn, type TurnSetup } from "./turn/turn.ts";
