/**
 * What Discord allows. Sources: its developer documentation on messages (2,000 characters, a nonce of 25 characters
 * that is remembered for some minutes, ten attachments), on uploads (10 MiB for a bot), on components (five rows of
 * five buttons, ids of 100 characters, labels of 80, menus of 25 options; 4,000 characters in a message that is made
 * of components alone), on polls (ten answers of 55 characters, a question of 300), on forms (labels of 45, texts of
 * 4,000), on interactions (an answer within 3 s, a token good for 15 minutes), on application commands (100, names of
 * 32 characters, descriptions of 100), on rate limits (50 requests a second, and about five messages in five seconds
 * and channel; 10,000 refused requests in ten minutes shut an address out) and on the gateway (1,000 new sessions a
 * day).
 */
export const limits = {
  partLength: 2_000,
  /** Of a text among the components of a message. */
  componentTextLength: 4_000,
  nonceWindowMs: 120_000,
  uploadBytes: 10_485_760,
  /** What is fetched: paying members may send up to 500 MB. */
  mediaBytes: 104_857_600,
  mediaPerMessage: 10,
  buttons: 25,
  buttonsOfRow: 5,
  labelLength: 80,
  /** Of a menu's options. */
  optionLength: 100,
  formLabelLength: 45,
  formTextLength: 4_000,
  customIdLength: 100,
  /**
   * Of an id, what is left for the value beside a name of 16 characters, what parts the two, and the mark of a form.
   */
  callbackBytes: 80,
  poll: { options: 10, questionLength: 300, optionLength: 55 },
  /** How long a poll is open. */
  pollHours: 24,
  /** Messages whose keys are remembered, to tell them from a doubtful one that says the same. */
  rememberedKeys: 1_000,
  commands: 100,
  commandNameLength: 32,
  descriptionLength: 100,
  messagesPerSecond: 1,
  messageBurst: 5,
  requestsPerSecond: 40,
  /** Messages that one request lists. */
  pageSize: 100,
  /** Read at most of a channel in which something was missed: a thousand messages. */
  missedPages: 10,
  requestTimeoutMs: 15_000,
  /** 10 MiB over a slow line. */
  uploadTimeoutMs: 120_000,
  /** What may be looked up before an event is handed over has to be found out in that time. */
  lookupMs: 2_000,
  /** How long an interaction is answered with its token: a minute less than it is good. */
  interactionMs: 840_000,
  /** How long a connection may take to stand. */
  connectMs: 20_000,
  /** How much of that Discord may take to go on with a session, before a new one is begun. */
  resumeMs: 10_000,
  /**
   * Between tries to connect again: the first, and the longest, at which a day of connections that break at once stays
   * under the sessions of a day.
   */
  reconnectMs: 1_000,
  reconnectMostMs: 180_000,
  /** A token that was refused is not tried again for that long. */
  refusedMs: 300_000,
  /** How often a connection is asked for a sign of life, and how long that may take. */
  probeMs: 30_000,
  pongMs: 10_000,
  /** How often the sign that an answer is written is shown again, and how often at most: a quarter of an hour. */
  typingMs: 8_000,
  typingTimes: 112,
  dayMs: 86_400_000,
} as const;
