export { checkEvents, type ReadTurn, readTurn } from "./check.ts";
export { type Whole, wholeOf, wrongWithCut } from "./cut.ts";
export type { ProviderSubject, RecordedRefusal, RecordedStream } from "./subject.ts";
export { providerSuite, type TestApi } from "./suite.ts";
export {
  bytewise,
  cutPlaces,
  eventEnds,
  type Wire,
  type WireAnswer,
  type WireRequest,
  wire,
} from "./wire.ts";
