export type { MessageAction, MessageDestination, MessageOutcome } from "./contract/actions.ts";
export { createAddressCodec } from "./contract/address-codec.ts";
export {
  type Capabilities,
  type Intake,
  type MediaKind,
  mediaKinds,
  type OutboundMediaKind,
  type RateLimit,
  type SendMediaLimit,
  type TextCapability,
} from "./contract/capabilities.ts";
export {
  type AccountCheck,
  type AddressCodec,
  type Channel,
  type ChannelCache,
  type ChannelCommand,
  type ChannelContext,
  type ChannelDefinition,
  type ChannelLogger,
  type ChannelState,
  type Clock,
  type ConfigField,
  defineChannel,
  type FetchedMedia,
  type Health,
  type HistoryMessage,
  type Identity,
  type ReadBody,
  type SetupStep,
} from "./contract/definition.ts";
export {
  ChannelError,
  type ChannelErrorCode,
  type ChannelErrorScope,
  catchRefusal,
  channelErrorCodes,
  channelErrorScopes,
  isChannelError,
  isRetryable,
  reasonOf,
} from "./contract/errors.ts";
export {
  type ActionEvent,
  type Addressed,
  addressedKinds,
  type CommandEvent,
  type Conversation,
  type ConversationKind,
  conversationKinds,
  type DeletedEvent,
  type DeliveryEvent,
  type EditedEvent,
  type EmitResult,
  getAllMedia,
  getRepliedTo,
  type InboundEvent,
  type InlineImage,
  type LifecycleEvent,
  MAX_REFERENCES,
  type MediaRef,
  type Mention,
  type MessageBody,
  type MessageEvent,
  type ReactionEvent,
  type Reference,
  referenceKinds,
  type Sender,
  type TurnRequest,
  type TurnSampling,
} from "./contract/events.ts";
export { dropUndefined, type Json } from "./contract/json.ts";
export type {
  ButtonsPart,
  Draft,
  DraftOptions,
  FinalizeOptions,
  MediaPart,
  Outbound,
  OutboundPart,
  PartReceipt,
  PollPart,
  PollResult,
  Receipt,
  ReconcileResult,
  SendIntent,
  SendOptions,
} from "./contract/messages.ts";
export type { Activity } from "./host/activity.ts";
export { createChildEnvironment } from "./host/child-environment.ts";
export { type Connection, type SupervisedConnection, superviseConnection } from "./host/connection.ts";
export { type Deadline, deadline } from "./host/deadline.ts";
export {
  type AccountParts,
  type ChannelMethods,
  type HostedAccount,
  hostedChannel,
} from "./host/hosted-channel.ts";
export { createInMemoryCache, createInMemoryState } from "./host/in-memory.ts";
export {
  type JsonRpc,
  type JsonRpcCallOptions,
  type JsonRpcError,
  type JsonRpcProcess,
  superviseJsonRpc,
} from "./host/json-rpc.ts";
export { createMissingPackageError } from "./host/missing-package.ts";
export { createNameResolver, type NameResolver } from "./host/name-resolver.ts";
export { createOwnIdentity } from "./host/own-identity.ts";
export { rejectOnAbort } from "./host/reject-on-abort.ts";
export { retryUntilDone } from "./host/retry-until-done.ts";
export { systemClock } from "./host/system-clock.ts";
export { type Backfill, createBackfill } from "./inbound/backfill.ts";
export { checkWebhook, type WebhookChallenge } from "./inbound/check-webhook.ts";
export { equalInConstantTime } from "./inbound/constant-time.ts";
export { type Cursor, createCursor } from "./inbound/cursor.ts";
export { emitAll } from "./inbound/emit-all.ts";
export { type EventBase, type EventFacts, eventBase, eventFacts } from "./inbound/event-base.ts";
export { createOrder } from "./inbound/event-order.ts";
export { createFetchedMedia } from "./inbound/fetched-media.ts";
export { createGapDetector, type Gap, type GapDetector } from "./inbound/gap-detector.ts";
export { getMediaKind, parseMimeType } from "./inbound/media-type.ts";
export { normalizeEvent, normalizeTurn } from "./inbound/normalize.ts";
export {
  isPayload,
  objectAt,
  objectsAt,
  type Payload,
  parsePayload,
  textAt,
  timeAt,
  toJson,
} from "./inbound/payload.ts";
export {
  createWebhook,
  type HandleResult,
  isRecent,
  readBody,
  rejectWebhook,
  type VerifyResult,
} from "./inbound/webhook.ts";
export { createWebhookMonitor, type ForgedRequest, type WebhookMonitor } from "./inbound/webhook-monitor.ts";
export { createFenceTracker } from "./markdown/fences.ts";
export { splitText } from "./markdown/split-text.ts";
export { createOutbound } from "./outbound/create-outbound.ts";
export { describeFailedRequest } from "./outbound/describe-failed-request.ts";
export { createEditedDraft } from "./outbound/edited-draft.ts";
export { failedToConnect } from "./outbound/failed-to-connect.ts";
export { limitResponse } from "./outbound/limit-response.ts";
export { allowAnyMedia, readMedia } from "./outbound/media.ts";
export { getOpusMs, isOpus } from "./outbound/opus.ts";
export { getPartKey, getSinglePart, sendParts } from "./outbound/parts.ts";
export { encodePathSegment } from "./outbound/path-segment.ts";
export { plainerPart } from "./outbound/plainer-form.ts";
export { assertPoll, createPollOutbound } from "./outbound/poll.ts";
export { reconciledFrom, sendWindow } from "./outbound/reconcile.ts";
export {
  createRequests,
  type ErrorMeaning,
  type ErrorResponse,
  type PlatformRequest,
  type Requests,
} from "./outbound/requests.ts";
export { parseRetryAfter } from "./outbound/retry-after.ts";
export { TokenBuckets } from "./outbound/token-buckets.ts";
export { getSpeakerKey } from "./speaker-key.ts";
export { fitLabel, fitText, normalizeLineEnds, removeControlCharacters, textLength } from "./text.ts";
