/**
 * Discord's limits. Sources, all in the developer documentation: messages (2,000 characters, a nonce of 25
 * characters that is remembered for some minutes, ten attachments), uploads (10 MiB for a bot), components
 * (five rows of five buttons, ids of 100 characters, labels of 80, menus of 25 options; 4,000 characters in a
 * message made only of components), polls (ten answers of 55 characters, a question of 300), modals (labels
 * of 45, texts of 4,000), interactions (response within 3 s, token valid for 15 minutes), application
 * commands (100, names of 32 characters, descriptions of 100), rate limits (50 requests a second, about five
 * messages in five seconds per channel; 10,000 invalid requests in ten minutes block an IP address) and the
 * gateway (1,000 new sessions a day).
 */
export const limits = {
  partLength: 2_000,
  /** Maximum text length in the components of a message. */
  componentTextLength: 4_000,
  nonceWindowMs: 120_000,
  uploadBytes: 10_485_760,
  /** Maximum size of downloads in bytes. Paying users may send up to 500 MB. */
  mediaBytes: 104_857_600,
  mediaPerMessage: 10,
  buttons: 25,
  buttonsOfRow: 5,
  labelLength: 80,
  /** Maximum length of a menu option. */
  optionLength: 100,
  formLabelLength: 45,
  formTextLength: 4_000,
  customIdLength: 100,
  /**
   * Bytes that remain for a value in a custom id, next to an id of 16 characters, the separator and the prefix of a
   * form.
   */
  callbackBytes: 80,
  poll: { options: 10, questionLength: 300, optionLength: 55 },
  /** Duration of a poll in hours. */
  pollHours: 24,
  /**
   * Number of sent messages whose idempotency keys are kept in memory. They distinguish a sent message from one with
   * the same text and an unknown outcome.
   */
  rememberedKeys: 1_000,
  commands: 100,
  commandNameLength: 32,
  descriptionLength: 100,
  messagesPerSecond: 1,
  messageBurst: 5,
  requestsPerSecond: 40,
  /** Messages per page. */
  pageSize: 100,
  /** Maximum number of pages to read per channel after an absence: 1,000 messages. */
  missedPages: 10,
  requestTimeoutMs: 15_000,
  /** Time limit for an upload. Allows 10 MiB over a slow connection. */
  uploadTimeoutMs: 120_000,
  /** Time limit for lookups before an event is emitted. */
  lookupMs: 2_000,
  /** Lifetime of an interaction token, minus one minute. */
  interactionMs: 840_000,
  /** Time limit for opening a connection. */
  connectMs: 20_000,
  /** Portion of that time limit for resuming the session before a new one is started. */
  resumeMs: 10_000,
  /** Number of remaining new sessions below which the bot spreads them over the rest of the day. */
  scarceSessions: 200,
  /**
   * Milliseconds for which a rejected token is not tried again. The resulting 60 requests in ten minutes do not block
   * the IP address.
   */
  refusedMs: 10_000,
  /** Interval and time limit of the connection probe. A dead connection is noticed within 25 s. */
  probeMs: 15_000,
  pongMs: 10_000,
  /** Maximum delay of an event whose channel is being read for missed messages. */
  orderMs: 10_000,
  /** Interval at which the typing indicator is renewed, and the maximum number of renewals (15 minutes). */
  typingMs: 8_000,
  typingTimes: 112,
  dayMs: 86_400_000,
  /** Milliseconds after which the first message of a thread is reported again. */
  threadStartMs: 604_800_000,
} as const;
