export { checkEvents, type ReadTurn, readTurn } from "./check.ts";
export type { ProviderSubject, RecordedRefusal, RecordedStream } from "./subject.ts";
export { providerSuite, type TestApi } from "./suite.ts";
export { type Wire, type WireAnswer, wire } from "./wire.ts";
