/**
 * Feishu's limits. Sources: the open platform's pages on sending messages (text 150 KB, cards and rich text 30 KB,
 * `uuid` of at most 50 characters and one success an hour, 5 messages per second and chat, 50 calls a second and 1,000
 * a minute per method, a message edited at most 20 times, a card changed 5 times a second within 14 days), on event
 * subscription (response within 3 s; redeliveries after 15 s, 5 min, 1 h and 6 h), on message resources (100 MB), on
 * card entities and streaming (10 operations a second per card, 50 a second and 1,000 a minute per method, ten minutes)
 * and on the parts of a card (an input of at most 1,000 characters), and the SDK's notes on uploads (10 MB per image,
 * 30 MB per file).
 */
export const limits = {
  /** Maximum size of a card or rich text, in bytes. */
  cardBytes: 30_720,
  /**
   * Maximum size of the text of one part, in bytes. As JSON it takes at most twice as much, so a part always fits into
   * a card or rich text.
   */
  partBytes: 14_000,
  uuidLength: 50,
  uuidWindowMs: 3_600_000,
  /**
   * Rate limits of one chat and of the account. The limit of 1,000 calls a minute is stricter than the one per second.
   */
  messagesPerSecond: 5,
  messageBurst: 5,
  requestsPerSecond: 16,
  requestBurst: 50,
  /** Lifetime of a card: 14 days, in milliseconds. */
  editWindowMs: 1_209_600_000,
  /**
   * Rate limits for operations on one card entity and for calls of one method. Together with the burst, they stay
   * within Feishu's limits per second and per minute.
   */
  cardOperations: { perSecond: 5, burst: 5 },
  cardCalls: { perSecond: 16, burst: 34 },
  /**
   * Interval at which streaming is enabled again, because Feishu ends it ten minutes after it was enabled, and the
   * delay before another attempt.
   */
  streamRenewMs: 540_000,
  streamRetryMs: 15_000,
  /** Milliseconds for which no card entity is requested after a refusal. */
  cardKitRefusedMs: 3_600_000,
  mediaBytes: 104_857_600,
  mediaPerMessage: 20,
  /** Maximum sizes of uploads in bytes: an image, and any other file. */
  imageUploadBytes: 10_485_760,
  fileUploadBytes: 31_457_280,
  /** Maximum number of tables in one Markdown element of a card. */
  cardTables: 4,
  buttons: 20,
  /** Maximum number of equal buttons. More of them become a menu. */
  buttonsAtOnce: 5,
  callbackBytes: 1000,
  /** Maximum number of characters in the input of a form. */
  formTextLength: 1000,
  /** Maximum body size of a webhook request in bytes. */
  bodyBytes: 1_048_576,
  /**
   * Maximum age of a signed request in milliseconds. The last redelivery arrives 6 h 5 min after the first delivery,
   * and may have the same signature. Event ids deduplicate events within that time.
   */
  signatureAgeMs: 25_200_000,
  requestTimeoutMs: 15_000,
  /** Time before expiry at which a token is replaced, so that it is still valid when the call arrives. */
  tokenMarginMs: 180_000,
  /** Time limit for an upload. Allows 30 MB over a slow connection. */
  uploadTimeoutMs: 120_000,
  /** Time limit for opening a long connection. */
  connectMs: 15_000,
  /** Interval of pings, and number of seconds without a response after which the connection is considered dead. */
  pingMs: 15_000,
  pongSeconds: 10,
  /**
   * Delays between the reads that check a message to the bot for edits, and the maximum number of messages being
   * checked.
   */
  readBackMs: [5_000, 15_000, 40_000, 240_000],
  followedMessages: 200,
  /** Time limit for lookups before an event is acknowledged. */
  lookupMs: 2_000,
  /**
   * Maximum delay of an event whose chat is being read for missed messages. Feishu waits 3 s for the acknowledgment.
   */
  orderMs: 2_000,
} as const;
