import type { AccountCheck, Health, MediaPart } from "@signalbox/channel";
import type { IMessageAddress } from "./address.ts";
import type { Row } from "./row.ts";

/** A message to send. */
export interface MessageToSend {
  readonly to: IMessageAddress;
  /** The part's idempotency key. */
  readonly key: string;
  /** GUID of the message to which this one replies. Needs the private API of imsg or BlueBubbles. */
  readonly replyTo: string | undefined;
  readonly signal: AbortSignal;
}

/** An opened attachment. */
export interface OpenedFile {
  readonly body: ReadableStream<Uint8Array>;
  readonly headers: Headers;
}

/** The connection to Messages on a Mac. All methods throw only `ChannelError`. */
export interface Transport {
  /** Connects, and reads rows from the reader's position on. */
  start(signal: AbortSignal): Promise<void>;
  stop(): void;
  health(): Health;
  /** Sends text. Returns the GUID of the message, or `undefined` if it is not known yet. */
  sendText(text: string, message: MessageToSend): Promise<string | undefined>;
  sendFile(
    part: MediaPart,
    bytes: Uint8Array<ArrayBuffer>,
    message: MessageToSend,
  ): Promise<string | undefined>;
  /** Returns the latest messages of the account in a conversation, or `undefined` if the conversation is unknown. */
  findSent(to: IMessageAddress, since: number, signal: AbortSignal): Promise<readonly Row[] | undefined>;
  react(
    to: IMessageAddress,
    guid: string,
    reaction: { readonly emoji: string; readonly on: boolean },
    signal: AbortSignal,
  ): Promise<void>;
  /** Opens an attachment by the reference that the transport has put into a row. */
  open(ref: unknown, signal: AbortSignal): Promise<OpenedFile>;
  checks(signal: AbortSignal): Promise<readonly AccountCheck[]>;
}
