export { type Adapted, adapt } from "./adapt/adapt.ts";
export type { AdaptOptions } from "./adapt/convert.ts";
export type { Loss } from "./adapt/losses.ts";
export {
  type Catalogue,
  type CatalogueAccount,
  createCatalogue,
  defaultAccounts,
  KEY_VARIABLES,
  type ModelOverride,
  type ResolvedModel,
} from "./catalogue/catalogue.ts";
export {
  costMicros,
  pricesFor,
  reportedUsage,
  type TokenCounts,
} from "./cost.ts";
export {
  classify,
  classifyException,
  type Failure,
  FailureError,
  type FailureFacts,
  failure,
} from "./failure/failure.ts";
export type { ProviderEntries, ProviderEntry } from "./models/accounts.ts";
export type { Answer, AnswerStream } from "./models/answer.ts";
export {
  createModels,
  type Models,
  type ModelsOptions,
  type Prompt,
  type Resolution,
  type ResolveOptions,
} from "./models/create-models.ts";
export type { ModelProblem } from "./models/problems.ts";
export {
  type AccountConfig,
  defineProvider,
  type ModelRequest,
  type ProviderDefinition,
} from "./provider/define-provider.ts";
export { type EventReader, readAnswer, responseBytes } from "./provider/event-stream.ts";
export {
  createProviders,
  type FetchLike,
  type Provider,
  type ProviderConfig,
  type Providers,
  type Timeouts,
} from "./provider/provider.ts";
export { loadSdk } from "./provider/sdk.ts";
export type { Cooldowns, KeyState } from "./runner/keys.ts";
export type { RetryPolicy } from "./runner/plan.ts";
export type { Sleep } from "./runner/run.ts";
export { type Account, createModelRunner, type ModelRunner, type RunnerOptions } from "./runner/runner.ts";
export type { LossKind, Warn, WarningCode } from "./shared/warnings.ts";
export { withTextTools } from "./text-tools/stream.ts";
export type { TurnWriter } from "./turn/record.ts";
export { modelTurn, type ReadTurn, type TurnSetup } from "./turn/turn.ts";
