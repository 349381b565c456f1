export { type Adapted, adapt, type Loss } from "./adapt/index.ts";
export { addUsage, costMicros, type ExtraPrices, reportedUsage, type TokenCounts } from "./cost.ts";
export {
  createProviders,
  type FetchLike,
  type Provider,
  type ProviderConfig,
  type Providers,
  type Timeouts,
} from "./provider.ts";
export { classify, type Failure, FailureError, type FailureFacts, failure } from "./stream/errors.ts";
export { iterableSource, responseSource } from "./stream/source.ts";
export { SseParser } from "./stream/sse.ts";
export { keepAliveFetch } from "./stream/transport.ts";
export { modelTurn, type OpenTurn, type TurnSetup, type TurnSource, type TurnWriter } from "./stream/turn.ts";
