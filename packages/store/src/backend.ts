/** Parts of the store that do not depend on the database. The implementation for PostgreSQL uses them, too. */
export { accountLease } from "./account-lease.ts";
export { EMPTY_HEAD, linkHash } from "./audit/chain.ts";
export { type DedupeKey, dedupeKey, getDedupeKeys } from "./dedupe-keys.ts";
export {
  ERASED,
  eraseContent,
  eraseInStored,
  eraseInString,
  getForms,
  getParts,
  type TextForm,
} from "./erase-text.ts";
export {
  addUnknownModel,
  addUnknownModelByDay,
  type CheckedModelUsage,
  checkModelUsage,
  checkUsage,
  dayOf,
  eachFigure,
} from "./figures.ts";
export { type PreparedHistory, prepareHistory } from "./group-history-prepare.ts";
export { idOf, nonceMaker, rowOf, rowOrEnd } from "./ids.ts";
export { copied, decode, decodeIntact, encode, encodeOptional } from "./json.ts";
export { checkWaitingHolder, getTakenFrom, isSameLease } from "./lease-token.ts";
export { createLocalHints } from "./local-hints.ts";
export { getOldest } from "./oldest.ts";
export { derivedKey, noticesAbout, type PreparedOutbox, prepareOutbox } from "./outbox-prepare.ts";
export { ROW_FORMAT, WRITTEN_FORMAT } from "./row-format.ts";
export { type PreparedIntent, prepareIntents } from "./tool-intents.ts";
export { type BufferedTraceStore, createTraceBuffer } from "./trace-buffer.ts";
export { answeredRows, EXPIRED_REASON, isMarked, UNDELIVERED_MARK } from "./undelivered.ts";
