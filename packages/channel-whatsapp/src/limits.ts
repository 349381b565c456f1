/**
 * WhatsApp's limits. Sources: Meta's documentation of the Cloud API: text, reply button, list and media messages,
 * "Supported media types", "Throughput", "Pair rate limits", "Customer service windows" and "Typing indicators", and
 * the OpenAPI document in https://github.com/facebook/openapi. Lengths are in UTF-16 code units.
 */
export const limits = {
  partLength: 4_096,
  /** Maximum length of the text above buttons. */
  questionLength: 1_024,
  /** Maximum number of reply buttons, and of rows in a list. Lists are used for more choices or longer labels. */
  replyButtons: 3,
  rows: 10,
  titleLength: 20,
  rowTitleLength: 24,
  rowDescriptionLength: 72,
  rowIdLength: 200,
  /** Maximum size of a button's value in bytes, so that it fits into a row id next to an id of 16 characters. */
  callbackBytes: 170,
  fileNameLength: 240,
  imageBytes: 5_242_880,
  audioBytes: 16_777_216,
  videoBytes: 16_777_216,
  documentBytes: 104_857_600,
  /** Maximum size of a received attachment in bytes. */
  mediaBytes: 104_857_600,
  /** Maximum size of a webhook in bytes. Meta's limit is 3 MB. */
  bodyBytes: 3_145_728,
  /** Time after a person's last message during which messages other than templates are accepted. */
  windowMs: 86_400_000,
  /** Messages per second of a number, and to one person. Up to 45 messages to one person can be sent at once. */
  messagesPerSecond: 80,
  pairPerSecond: 0.1667,
  pairBurst: 45,
  /** Default delay after a rate limit in milliseconds. Meta sends none. */
  rateWaitMs: 6_000,
  requestTimeoutMs: 15_000,
  uploadTimeoutMs: 120_000,
  /**
   * Time to wait for the status of a message with an unknown outcome, from the attempt or the start of the account, and
   * the interval between lookups.
   */
  statusWaitMs: 120_000,
  statusLookupMs: 2_000,
  /** Number of message statuses that are stored per number. */
  storedStatuses: 4_096,
  /** Number of entries in each in-memory list. */
  remembered: 1_000,
  /** `doctor` warns about a token that expires within this time. */
  tokenWarningMs: 1_209_600_000,
} as const;
