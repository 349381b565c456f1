/**
 * What Feishu allows. Sources: the open platform's pages on sending messages (text 150 KB, cards and rich text 30 KB,
 * `uuid` of at most 50 characters and one success an hour, 5 messages a second and chat, 50 a second and 1,000 a minute
 * for each call, a message edited at most 20 times, a card changed 5 times a second within 14 days), on event
 * subscription (an answer within 3 s; deliveries again after 15 s, 5 min, 1 h and 6 h) and on message resources (100
 * MB), on card entities and streaming (10 operations a second a card, 50 a second and 1,000 a minute a call, ten
 * minutes) and on a card's parts (an input of at most 1,000 characters), and the SDK's notes on uploads (10 MB a
 * picture, 30 MB a file).
 */
export const limits = {
  /** Content of a card or a rich text, in bytes. */
  cardBytes: 30_720,
  /**
   * One part of an answer, in bytes of its text. As JSON it takes at most twice that, so that a part always fits a
   * card or a rich text.
   */
  partBytes: 14_000,
  uuidLength: 50,
  uuidWindowMs: 3_600_000,
  /** Of one chat; and of the account, over all calls, where a minute's thousand is the narrower. */
  messagesPerSecond: 5,
  messageBurst: 5,
  requestsPerSecond: 16,
  requestBurst: 50,
  /** How long a card can be changed: 14 days. */
  editWindowMs: 1_209_600_000,
  /**
   * Operations on one card entity, and calls of one kind on any: together with the burst never more than the ten and
   * the fifty that Feishu takes in a second, nor than its thousand a minute.
   */
  cardOperations: { perSecond: 5, burst: 5 },
  cardCalls: { perSecond: 16, burst: 34 },
  /** Streaming ends ten minutes after it was enabled: when it is enabled again, and when that is tried once more. */
  streamRenewMs: 540_000,
  streamRetryMs: 15_000,
  /** How long no card entity is asked for after the app was refused one. */
  cardKitRefusedMs: 3_600_000,
  mediaBytes: 104_857_600,
  mediaPerMessage: 20,
  /** What can be uploaded: a picture, and any other file. */
  imageUploadBytes: 10_485_760,
  fileUploadBytes: 31_457_280,
  /** Tables that one Markdown element of a card may hold. */
  cardTables: 4,
  buttons: 20,
  /** More than so many of a kind are a menu. */
  buttonsAtOnce: 5,
  callbackBytes: 1000,
  /** What may be written into a form. */
  formTextLength: 1000,
  /** A pushed event, in bytes. */
  bodyBytes: 1_048_576,
  /**
   * How old a signed request may be. The last delivery again comes 6 h 5 min after the first, and nobody says that it
   * is signed anew; within that time the event id is what tells a repetition.
   */
  signatureAgeMs: 25_200_000,
  requestTimeoutMs: 15_000,
  /** A token is asked for again so long before it expires: it has to be good when the call arrives. */
  tokenMarginMs: 180_000,
  /** 30 MB over a slow line. */
  uploadTimeoutMs: 120_000,
  /** How long a long connection may take to stand. */
  connectMs: 15_000,
  /** The interval of pings, and the seconds after which a connection that does not answer one is dead. */
  pingMs: 15_000,
  pongSeconds: 10,
  /**
   * When a message to the bot is read again, each time after the one before: soon while it is being answered, and once
   * more where somebody thinks again. So many are followed at a time.
   */
  readBackMs: [5_000, 15_000, 40_000, 240_000],
  followedMessages: 200,
  /** What may be looked up before an event is acknowledged has to be found out in that time. */
  lookupMs: 2_000,
  /** The longest delay of an event whose chat is read for missed messages. Feishu waits 3 s for the acknowledgment. */
  orderMs: 2_000,
} as const;
