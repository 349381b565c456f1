export type { MessageAction, MessageDestination, MessageOutcome } from "./contract/actions.ts";
export { type AddressParts, createAddressCodec } from "./contract/address-codec.ts";
export {
  type Capabilities,
  type MediaKind,
  mediaKinds,
  type OutboundMediaKind,
  type PollLimits,
  type RateLimit,
  type SendMediaLimit,
  type TextCapability,
  type TextUnit,
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
  type ChannelMeta,
  type ChannelState,
  type ChannelWith,
  type Clock,
  type ConfigField,
  defineChannel,
  type FetchedMedia,
  type Health,
  type HistoryMessage,
  type Identity,
  type ReadBody,
} from "./contract/definition.ts";
export {
  ChannelError,
  type ChannelErrorCode,
  type ChannelErrorOptions,
  type ChannelErrorScope,
  channelErrorCodes,
  channelErrorScopes,
  isChannelError,
  isLasting,
  reasonOf,
  unlessRefused,
} from "./contract/errors.ts";
export {
  type ActionEvent,
  type Addressed,
  type CommandEvent,
  type Conversation,
  type ConversationKind,
  conversationKinds,
  type DeletedEvent,
  type EditedEvent,
  type EmitResult,
  getAllMedia,
  getRepliedTo,
  type HeldPicture,
  type InboundEvent,
  type LifecycleEvent,
  MAX_REFERENCES,
  type MediaRef,
  type MemberEvent,
  type Mention,
  type MessageBody,
  type MessageEvent,
  type ReactionEvent,
  type Reference,
  referenceKinds,
  type Sender,
  type TurnRequest,
  type TurnSampling,
  waysOfAddressing,
} from "./contract/events.ts";
export type { Json } from "./contract/json.ts";
export type {
  ButtonsPart,
  Draft,
  DraftOptions,
  FinalizeOptions,
  MarkdownPart,
  MediaPart,
  Outbound,
  OutboundPart,
  PartReceipt,
  PollPart,
  PollResult,
  Receipt,
  Reconciled,
  SendIntent,
  SendOptions,
  TextPart,
} from "./contract/messages.ts";
export { type Activity, createActivity } from "./host/activity.ts";
export {
  type Connection,
  type ConnectionOptions,
  type ConnectionTiming,
  type SupervisedConnection,
  superviseConnection,
} from "./host/connection.ts";
export { type Deadline, deadline } from "./host/deadline.ts";
export {
  type AccountParts,
  type ChannelMethods,
  type HostedAccount,
  hostedChannel,
} from "./host/hosted-channel.ts";
export { createMemoryCache, createMemoryState } from "./host/memory.ts";
export { missingPackage } from "./host/missing-package.ts";
export { createNames, type NameOf, type NamesOptions } from "./host/names.ts";
export { createOwnIdentity, type OwnIdentity } from "./host/own-identity.ts";
export { systemClock } from "./host/system-clock.ts";
export { untilAborted } from "./host/until-aborted.ts";
export { type UntilDoneOptions, untilDone } from "./host/until-done.ts";
export { type Backfill, type BackfillOptions, createBackfill } from "./inbound/backfill.ts";
export { checkWebhook, type WebhookChallenge, type WebhookCheck } from "./inbound/check-webhook.ts";
export { equalInConstantTime } from "./inbound/constant-time.ts";
export { emitAll } from "./inbound/emit-all.ts";
export {
  type EventBase,
  type EventFacts,
  type EventParts,
  eventBase,
  eventFacts,
} from "./inbound/event-base.ts";
export { fetchedMedia } from "./inbound/fetched-media.ts";
export { createOrder, type Order } from "./inbound/in-order.ts";
export { mediaKindOf, mimeTypeOf } from "./inbound/media-type.ts";
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
  type Handled,
  isRecent,
  noWebhooks,
  readBody,
  type Verified,
  type WebhookOptions,
} from "./inbound/webhook.ts";
export { createFenceTracker, type FencedLine, type FenceTracker } from "./markdown/fences.ts";
export { chunkText, loadMarkdown } from "./markdown/on-demand.ts";
export { createEditedDraft, type EditedDraftPlatform } from "./outbound/edited-draft.ts";
export { anyMediaUpTo, readMedia } from "./outbound/media.ts";
export { neverSent } from "./outbound/never-sent.ts";
export { outboundOf } from "./outbound/outbound.ts";
export { pathSegment } from "./outbound/path-segment.ts";
export { checkedPoll, pollOutbound } from "./outbound/poll.ts";
export { reconciledFrom, sendWindow } from "./outbound/reconcile.ts";
export { retryAfterMs } from "./outbound/retry-after.ts";
export { type PartToSend, partKey, sendParts, theOnePart } from "./outbound/send-parts.ts";
export { type BucketRule, TokenBuckets } from "./outbound/token-buckets.ts";
export { speakerOf } from "./speaker.ts";
export { fitLabel, fitText, normalizeLineEnds, textLength, withoutControls } from "./text.ts";
