/** A platform whose channel is killed, with people who each write one message. */
export interface KilledPlatform {
  /** The channel's id. */
  readonly channel: string;
  readonly account: Readonly<Record<string, unknown>>;
  /** True if messages have no keys and cannot be looked up, so an announced answer may be at the platform. */
  readonly findsNothing?: boolean;
  /**
   * For platforms that forget messages which they have handed over: returns true if the process died while it had the
   * message. Such a message may be lost, and each start after a kill must report the gap.
   */
  mayBeLost?(person: number): boolean;
  /** Called when a gateway listens, before messages are delivered to it. Resolves once the account is ready. */
  connect(url: string): Promise<void>;
  /**
   * Delivers the message of a person. Resolves once the gateway has acknowledged it, even if that takes several
   * processes.
   */
  deliver(person: number, text: string): Promise<void>;
  /** The platform's id of that message. */
  messageId(person: number): string;
  /** Texts that the bot sent, in order. */
  sent(): readonly string[];
  /** Lets the response to the next message get lost. */
  loseResponse(): void;
  stop(): Promise<void>;
}
