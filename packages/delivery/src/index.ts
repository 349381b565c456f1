export type { AccountLookup, DeliveryAccount } from "./account.ts";
export { type BlockReplies, type BlockRepliesOptions, createBlockReplies } from "./blocks/block-replies.ts";
export { createDelivery } from "./delivery.ts";
export type { Delivery, DeliveryOptions, DeliveryOutcome } from "./delivery-types.ts";
export type { EndedDraft } from "./drafts/drafted-answer.ts";
export { createDrafts, type Drafts, type DraftsOptions } from "./drafts/drafts.ts";
export type { DraftTiming, WatchedRun } from "./drafts/growing-draft.ts";
export { createFinalReply, type FinalReply, type ShownAnswer } from "./final-reply.ts";
export { isLeaseHeld } from "./lease-limit.ts";
export {
  type ActingCall,
  type ActingRun,
  type ActOnMessages,
  createMessageActions,
  type MessageActionsOptions,
} from "./message-actions.ts";
export { type CurrentConversation, isCurrentConversation } from "./message-place.ts";
export {
  createNotifyingDelivery,
  type NotifyingDelivery,
  type NotifyingDeliveryOptions,
} from "./notifying-delivery.ts";
export type {
  ClaimedRow,
  DeliveryBodies,
  DeliveryMessage,
  Destination,
  DraftReference,
  OutboxInsert,
  OutboxRow,
  OutboxStore,
} from "./outbox.ts";
export { createOwnerNotices, type OwnerNotices, type OwnerNoticesOptions } from "./owner-notices.ts";
export {
  createPairingNotices,
  type PairedPeer,
  type PairingNotices,
  type PairingNoticesOptions,
} from "./pairing-notices.ts";
export {
  type Choice,
  type Click,
  createQuestions,
  getQuestionKey,
  parseClick,
  type Question,
  type QuestionKind,
  type QuestionMessage,
  type Questions,
  type QuestionsOptions,
} from "./questions.ts";
export {
  createAnswer,
  createOutboxKey,
  createOutboxRow,
  getDestinationKey,
  getPendingRows,
  isRepeatableAfterCrash,
  REPLY_TTL_MS,
} from "./rows.ts";
export { toMessageEvent } from "./to-message-event.ts";
export { createTyping, type Typing, type TypingOptions } from "./typing.ts";
