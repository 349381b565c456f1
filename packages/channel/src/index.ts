export type {
  Capabilities,
  MediaKind,
  OutboundMediaKind,
  RateLimit,
  SendMediaLimit,
  TextCapability,
  TextUnit,
} from "./capabilities.ts";
export {
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
} from "./channel.ts";
export { chunkText } from "./chunk.ts";
export { equalInConstantTime } from "./constant-time.ts";
export { type Deadline, deadline } from "./deadline.ts";
export {
  ChannelError,
  type ChannelErrorCode,
  type ChannelErrorOptions,
  type ChannelErrorScope,
  isChannelError,
} from "./errors.ts";
export { createMemoryCache, createMemoryState, systemClock } from "./host.ts";
export type {
  ActionEvent,
  Addressed,
  CommandEvent,
  Conversation,
  ConversationKind,
  DeletedEvent,
  EditedEvent,
  EmitResult,
  InboundEvent,
  LifecycleEvent,
  MediaRef,
  MemberEvent,
  Mention,
  MessageBody,
  MessageEvent,
  ReactionEvent,
  Sender,
  TurnRequest,
  TurnSampling,
} from "./inbound.ts";
export type { Json } from "./json.ts";
export { readMedia } from "./media.ts";
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
  Receipt,
  Reconciled,
  SendIntent,
  SendOptions,
  TextPart,
} from "./outbound.ts";
export { normalizeLineEnds, textLength } from "./text.ts";
