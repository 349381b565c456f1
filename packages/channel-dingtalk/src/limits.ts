/**
 * DingTalk's limits. Sources: the pages "Send group chat messages with a bot" (15,000 bytes), "Upload media files"
 * (20 MB, 2 MB for voice), "Rate limits" (20 calls of an API per second and app with the standard edition), "Obtain the
 * access token" (2 hours), and the Node.js stream SDK (an unanswered message is delivered again after 60 s).
 */
export const limits = {
  /** Maximum length of a text in UTF-8 bytes. Its JSON form, in which quotes take two bytes, must fit as well. */
  partBytes: 7_000,
  /** Maximum length of a message's parameters as JSON, in bytes. */
  parameterBytes: 15_000,
  /** Maximum length of the title that conversation lists and notifications show, in UTF-16 code units. */
  titleLength: 60,
  buttons: 10,
  labelLength: 40,
  /** Maximum size of a button's value as JSON, in bytes. */
  valueBytes: 500,
  imageBytes: 20_971_520,
  fileBytes: 20_971_520,
  voiceBytes: 2_097_152,
  mediaBytes: 20_971_520,
  messagesPerSecond: 1,
  messageBurst: 5,
  requestsPerSecond: 20,
  /** Time limits in milliseconds. */
  requestTimeoutMs: 15_000,
  uploadTimeoutMs: 120_000,
  connectMs: 15_000,
  /** A token is replaced this long before it expires, in milliseconds. */
  tokenMarginMs: 300_000,
  /** Maximum size of a frame in UTF-16 code units. Messages are far smaller. */
  frameLength: 1_000_000,
  /**
   * Time without any frame after which a connection is replaced, in milliseconds. If DingTalk has sent no frame at all
   * on a connection, the time for the next one doubles up to the maximum.
   */
  silenceMs: 60_000,
  maxSilenceMs: 600_000,
  /** Time that a replaced connection stays open to acknowledge what it has received, in milliseconds. */
  lingerMs: 10_000,
  /** Number of slots for notes about cards. */
  notedCards: 4_096,
  /** Time for which a card is certainly found by its key, in milliseconds. */
  cardMs: 3_600_000,
  /** Time for which no card is created after DingTalk has refused one for lack of a permission, in milliseconds. */
  cardsRefusedMs: 1_800_000,
} as const;
