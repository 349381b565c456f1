import type {
  Block,
  BlockHead,
  JsonValue,
  ModelPrices,
  Native,
  StopReason,
  Usage,
} from "@signalbox/agent-core";
import type { ExtraPrices, TokenCounts } from "../cost.ts";
import type { Failure } from "../failure/failure.ts";

/** What an adapter tells about the turn it is reading. Everything after the terminal event is ignored. */
export interface TurnWriter {
  /** Ends when the caller aborts, stops listening, or the vendor is silent for too long. */
  readonly signal: AbortSignal;
  /** Whether a terminal event was written. */
  readonly ended: boolean;
  /** Something the caller should know; before `start`. */
  warn(code: string, message: string): void;
  /** The vendor accepted the request. Only the first call counts. */
  start(requestId?: string | null): void;
  /** The vendor's id of the response. */
  responseId(id: string): void;
  /** Starts a block and gives its index. Several may be open at once. */
  open(head: BlockHead): number;
  /** What comes next of an open block: its text, or the JSON text of a call's arguments. */
  append(index: number, delta: string): void;
  /** Seals a block. A block that is not open is left alone. */
  close(index: number, native?: Native): void;
  /** Seals a block that was opened as what it turned out to be. */
  seal(index: number, block: Block): void;
  /** A block that arrives whole. */
  block(block: Block): void;
  /** What the vendor wants to see again with a block, marked as this model's. */
  native(data: JsonValue): Native;
  /** The usage so far; the last one ends up in the message. */
  usage(usage: Usage): void;
  /** The same from what the vendor counted, at the model's prices and `extra` ones. */
  tokens(counts: TokenCounts, extra?: (prices: ModelPrices) => ExtraPrices): void;
  /** Adds what was written since the vendor last counted, about, and what was sent where it has counted nothing. */
  estimate(): void;
  /** Ends the turn; open blocks are sealed first. Only the first terminal call counts. */
  finish(stopReason: StopReason, raw?: string): void;
  /** Ends the turn with a failure; open blocks are sealed first. */
  fail(failure: Failure, stopReason?: StopReason): void;
}
