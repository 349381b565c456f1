export { type Adapted, adapt, type Loss } from "./adapt/index.ts";
export {
  type Catalogue,
  type CatalogueAccount,
  createCatalogue,
  defaultAccounts,
  type ModelOverride,
  type ResolvedModel,
} from "./catalogue/index.ts";
export {
  addUsage,
  costMicros,
  type ExtraPrices,
  pricesFor,
  reportedUsage,
  type TokenCounts,
} from "./cost.ts";
export {
  createProviders,
  type FetchLike,
  type Provider,
  type ProviderConfig,
  type Providers,
  type Timeouts,
} from "./provider.ts";
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
export { classify, type Failure, FailureError, type FailureFacts, failure } from "./stream/errors.ts";
export { iterableSource, responseSource } from "./stream/source.ts";
export { SseParser } from "./stream/sse.ts";
export { keepAliveFetch } from "./stream/transport.ts";
export { modelTurn, type OpenTurn, type TurnSetup, type TurnSource, type TurnWriter } from "./stream/turn.ts";
export { withTextTools } from "./text-tools/index.ts";
