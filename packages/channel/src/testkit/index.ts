export { never } from "./bench.ts";
export { checkEvent } from "./check-event.ts";
export { type ConformanceOptions, runChannelConformance, type TestFunctions } from "./conformance.ts";
export { damaged } from "./damage.ts";
export { failing } from "./failing.ts";
export type {
  AttachedMedia,
  ChannelHarness,
  Choice,
  Delivery,
  Failure,
  Forgery,
  Platform,
  Recorded,
  SentMedia,
  SentPoll,
  UsedCommand,
} from "./harness.ts";
export { type OpenOptions, openChannel, type RunningChannel } from "./open-channel.ts";
export { keysOf, plainMessage } from "./plain-message.ts";
export { createRandom } from "./random.ts";
export { serveWebhook, type WebhookServer } from "./serve-webhook.ts";
export { type AdjustableClock, createAdjustableClock } from "./turned-clock.ts";
