/** The destination of an action, in the model's spelling. Default: the current conversation. */
export interface MessageDestination {
  /** The address of a conversation, or the platform id of a person. */
  readonly target?: string | undefined;
  /** `slack`, or `slack/main` if there are several accounts. */
  readonly channel?: string | undefined;
}

/** An action of an agent in a conversation. */
export type MessageAction = MessageDestination &
  (
    | {
        readonly action: "send";
        readonly text: string;
        /** Paths or URLs that the host opens. */
        readonly media: readonly string[];
        readonly replyTo?: string | undefined;
      }
    | {
        readonly action: "poll";
        readonly question: string;
        readonly options: readonly string[];
        /** True if a voter may choose several options. */
        readonly multiple?: boolean | undefined;
      }
    | { readonly action: "react"; readonly messageId: string; readonly emoji: string }
    | { readonly action: "edit"; readonly messageId: string; readonly text: string }
    /** Ends a poll that the agent has started. */
    | { readonly action: "close_poll"; readonly messageId: string }
    | { readonly action: "delete"; readonly messageId: string }
  );

/** The outcome of an action, described for the model. */
export type MessageOutcome =
  | {
      readonly ok: true;
      readonly text: string;
      /** The result in machine-readable form. */
      readonly details?: Readonly<Record<string, string | number | boolean>>;
    }
  | { readonly ok: false; readonly message: string };
