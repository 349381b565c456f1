export { type AdjustableClock, createAdjustableClock } from "./adjustable-clock.ts";
export { never } from "./bench.ts";
export { checkEvent } from "./check-event.ts";
export { runChannelConformance } from "./conformance.ts";
export { damage } from "./damage.ts";
export { createEndlessResponse, type EndlessResponse } from "./endless-response.ts";
export { expectChannelError } from "./expect.ts";
export type {
  ChannelHarness,
  Choice,
  Delivery,
  Failure,
  Forgery,
  Platform,
  RecordedPayload,
  ReferencedMessage,
  SentMedia,
  SentPoll,
  UsedCommand,
} from "./harness.ts";
export { openChannel, type RunningChannel } from "./open-channel.ts";
export { getKeys, plainMessage } from "./plain-message.ts";
export { createRandom } from "./random.ts";
export { serveWebhook, type WebhookServer } from "./serve-webhook.ts";
