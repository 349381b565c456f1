export { checkEvent } from "./check-event.ts";
export { type ConformanceOptions, runChannelConformance, type TestFunctions } from "./conformance.ts";
export { damaged } from "./damage.ts";
export type { ChannelHarness, Delivery, Failure, Forgery, Platform, Recorded, SentMedia } from "./harness.ts";
export { createRandom } from "./random.ts";
