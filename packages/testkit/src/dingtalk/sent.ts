import type { Upload } from "./uploads.ts";

/** A conversation that the bot writes to. */
export type Destination = { readonly userId: string } | { readonly conversationId: string };

/** A button on a card. */
export interface CardButton {
  readonly id: string;
  readonly text: string;
}

/** A message that the bot sent. */
export interface DingTalkMessage {
  /** The `processQueryKey` of a message, or the `outTrackId` of a card. */
  readonly id: string;
  readonly to: Destination;
  /** The key of the message template, or `card`. */
  readonly kind: string;
  readonly text: string;
  readonly title?: string;
  readonly upload?: Upload;
  /** The name that a file is shown with. */
  readonly fileName?: string;
  /** All texts that a card has shown so far, in order. */
  readonly shown: readonly string[];
  /** True once a card shows its final text. Always true for messages. */
  readonly isFinished: boolean;
  readonly buttons: readonly CardButton[];
  /** True after the bot has taken the message back. */
  readonly isRecalled: boolean;
}

/** The messages of a fake server, in order. */
export type Sent = DingTalkMessage[];
