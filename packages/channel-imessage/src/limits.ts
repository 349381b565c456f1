/** Limits of Messages, imsg and BlueBubbles. Sources: `docs/rpc.md` of imsg 0.15, and the source of BlueBubbles 1.9. */
export const limits = {
  /** Maximum length of a part in UTF-16 code units. Messages has no documented limit; longer parts are hard to read. */
  partLength: 4_000,
  mediaBytes: 26_214_400,
  uploadBytes: 26_214_400,
  messagesPerSecond: 1,
  messageBurst: 5,
  requestTimeoutMs: 15_000,
  /** Time limit for a message. imsg waits up to eight seconds until the message appears in the database. */
  sendTimeoutMs: 60_000,
  /** Time limit for an attachment, including the copy to the Mac. */
  uploadTimeoutMs: 180_000,
  /**
   * Maximum age of a message when it is read. iCloud can add messages of past years as new rows to the database
   * (openclaw/openclaw#72322).
   */
  maxAgeMs: 86_400_000,
  /** Interval between two requests to BlueBubbles for new messages. */
  pollMs: 2_000,
  /** Number of rows per request to BlueBubbles, which accepts at most 1,000. */
  rowsPerPage: 500,
  /** Number of chats per request to BlueBubbles, which accepts at most 1,000. */
  chatsPerPage: 1_000,
  /** Maximum number of rows that wait to be stored. After that, they are read again later. */
  waitingRows: 1_000,
  /** Delay before rows are read again that the host has rejected. */
  rejectedRowMs: 1_000,
  /** Number of chats in which the latest rows are looked up, and of chats that are searched for a conversation. */
  latestChats: 5,
  listedChats: 500,
  /** Maximum distance between the latest row and the latest one that a transport sees, which has no tapbacks. */
  unseenRows: 1_000,
  /** Number of messages that are searched for one whose receipt was lost. */
  searchedMessages: 200,
  /** Maximum time after a send during which its row may still appear in the database. */
  lateRowMs: 10_000,
  /** Interval between searches for such a row. */
  searchEveryMs: 500,
  /** Maximum difference between the clocks of the Mac and the gateway. */
  clockSkewMs: 5_000,
  /** Number of remembered ids of sent messages, and of chats whose identifiers are known. */
  remembered: 2_000,
} as const;
