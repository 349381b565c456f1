export type { AccountLookup, DeliveryAccount } from "./account.ts";
export { type BlockReplies, type BlockRepliesOptions, createBlockReplies } from "./blocks/block-replies.ts";
export type { BlockRules } from "./blocks/finished-block.ts";
export { createDelivery, type Delivery, type DeliveryOptions, type DeliveryState } from "./delivery.ts";
export { createDrafts, type Drafts, type DraftsOptions, type NoteStore } from "./drafts.ts";
export { type FinalReply, finalReply, type SeenOfAnswer } from "./final-reply.ts";
export type { DraftTiming, EndedDraft, WatchedRun } from "./growing-draft.ts";
export type { DeliveryLogger } from "./logger.ts";
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
export { orderAsMessage } from "./orders.ts";
export type {
  ClaimedRow,
  DeliveryMessage,
  Destination,
  DraftReference,
  LeaseToken,
  OutboxInsert,
  OutboxRow,
  OutboxState,
  OutboxStore,
  StoredReceipt,
  ToldThere,
} from "./outbox.ts";
export { createOwnerNotices, type OwnerNotices, type OwnerNoticesOptions } from "./owner-notices.ts";
export {
  createPairingNotices,
  type PairedPeer,
  type PairingNotices,
  type PairingNoticesOptions,
} from "./pairing-notices.ts";
export {
  type AskedMessage,
  answerIn,
  type Choice,
  type Click,
  createQuestions,
  type Question,
  type QuestionKind,
  type Questions,
  type QuestionsOptions,
  questionKey,
} from "./questions.ts";
export {
  answerTo,
  destinationKey,
  isRepeatable,
  outboxKey,
  outboxRow,
  pendingRows,
  REPLY_TTL_MS,
} from "./rows.ts";
export { createTyping, type Typing, type TypingOptions } from "./typing.ts";
