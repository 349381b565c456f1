/** Where an action goes, as a model writes it. If both are absent: to the conversation being answered. */
export interface MessageDestination {
  /** The address of a conversation, or a person's id at the platform. */
  readonly target?: string | undefined;
  /** `slack`, or `slack/main` where there are several accounts. */
  readonly channel?: string | undefined;
}

/** What an agent does in a conversation while it works. */
export type MessageAction = MessageDestination &
  (
    | {
        readonly action: "send";
        readonly text: string;
        /** Paths or URLs, which the host opens. */
        readonly media: readonly string[];
        readonly replyTo?: string | undefined;
      }
    | {
        readonly action: "poll";
        readonly question: string;
        readonly options: readonly string[];
        /** Whether a voter may choose several. */
        readonly multiple?: boolean | undefined;
      }
    | { readonly action: "react"; readonly messageId: string; readonly emoji: string }
    | { readonly action: "edit"; readonly messageId: string; readonly text: string }
    /** Ends a poll of the agent's own. */
    | { readonly action: "close_poll"; readonly messageId: string }
    | { readonly action: "delete"; readonly messageId: string }
  );

/** The outcome of an action, in words for the model. */
export type MessageOutcome =
  | {
      readonly ok: true;
      readonly text: string;
      /** For programs that read the result of the call. */
      readonly details?: Readonly<Record<string, string | number | boolean>>;
    }
  | { readonly ok: false; readonly message: string };
