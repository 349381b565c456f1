export { type Adapted, type AdaptOptions, adapt, type Loss } from "./adapt/index.ts";
export {
  type Catalogue,
  type CatalogueAccount,
  createCatalogue,
  defaultAccounts,
  type ModelOverride,
  type ResolvedModel,
} from "./catalogue/index.ts";
export {
  costMicros,
  type ExtraPrices,
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
export { KEY_VARIABLES, type ProviderEntries, type ProviderEntry } from "./models/accounts.ts";
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
export {
  type Account,
  type Cooldowns,
  createModelRunner,
  type KeyState,
  type ModelRunner,
  type RetryPolicy,
  type RunnerOptions,
  type Sleep,
} from "./runner/index.ts";
export type { LossKind, Warn, WarningCode } from "./shared/warnings.ts";
export { withTextTools } from "./text-tools/index.ts";
export type { TurnWriter } from "./turn/record.ts";
export { modelTurn, type ReadTurn, type TurnSetup } from "./turn/turn.ts";
