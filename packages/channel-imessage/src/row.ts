import type { MediaRef } from "@signalbox/channel";
import type { IMessageAddress } from "./address.ts";

/** A row of the message table of Messages, as both transports read it. */
export interface Row {
  /** Position after which the next rows are read. */
  readonly position: number;
  readonly guid: string;
  /** The conversation, or `undefined` if it is unknown. */
  readonly chat: IMessageAddress | undefined;
  /** GUID of the chat in Messages, needed to send to it. */
  readonly chatGuid: string;
  readonly chatName?: string | undefined;
  /** Phone number or e-mail address. Empty for some messages of the account itself. */
  readonly sender: string;
  readonly senderName?: string | undefined;
  readonly isFromMe: boolean;
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly media: readonly MediaRef[];
  /** The message to which this one replies. */
  readonly reply?: {
    readonly guid: string;
    readonly text?: string | undefined;
    readonly sender?: string | undefined;
  };
  /** Set if the row is a tapback. */
  readonly tapback?: { readonly guid: string; readonly emoji: string; readonly added: boolean };
}

/** Returns the GUID of a message without the part of the message before it, as in `p:0/GUID` and `bp:GUID`. */
export function toMessageGuid(reference: string): string {
  return reference.replace(/^(?:p:\d+\/|bp:)/, "");
}
