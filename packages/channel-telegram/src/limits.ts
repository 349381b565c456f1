/**
 * What Telegram allows. Sources: the Bot API's reference (sendMessage, "Rich Message Limits", getUpdates, setWebhook,
 * InlineKeyboardButton, sendPoll, sendPhoto, sendDocument, getFile, setMyCommands) and its FAQ on limits ("My bot is
 * hitting limits": about one message a second in a chat, 20 a minute in a group, 30 a second in all).
 */
export const limits = {
  /** Of a message once its entities are taken out, in UTF-16 units, which is how entities count as well. */
  partLength: 4_096,
  /** Beyond these Telegram drops entities without a word. */
  entities: 100,
  /** Of a rich message, nested blocks, items of lists and rows of tables counted. */
  rich: { blocks: 500, depth: 16, columns: 20 },
  buttons: 100,
  labelLength: 64,
  /** `callback_data`, in bytes. */
  callbackBytes: 64,
  /** What is remembered in its place, in bytes. */
  valueBytes: 1_000,
  /** Values of buttons that are too long for `callback_data` and are remembered in its place. */
  rememberedButtons: 400,
  /** Of a list of commands: how many, and how long what is said of each may be. */
  commands: 100,
  descriptionLength: 256,
  poll: { options: 10, questionLength: 300, optionLength: 100 },
  /** What `getFile` gives out. */
  mediaBytes: 20_971_520,
  messagesPerSecond: 1,
  messageBurst: 3,
  requestsPerSecond: 25,
  photoBytes: 10_485_760,
  uploadBytes: 52_428_800,
  /** A pushed update. */
  bodyBytes: 1_048_576,
  /** How long a request for updates stays open while there are none, in seconds. */
  pollSeconds: 25,
  /** One that has not come back by then never will. */
  pollTimeoutMs: 40_000,
  updatesPerPoll: 100,
  /** Before updates that the host did not take are asked for again. */
  refusedUpdateMs: 1_000,
  /** How long the parts of an album are waited for after the last one that came, and how often at most. */
  albumMs: 500,
  albumRounds: 5,
  requestTimeoutMs: 15_000,
  uploadTimeoutMs: 120_000,
  /** How long an attempt to connect may take. */
  connectMs: 20_000,
  /** How often a webhook's state is asked for. */
  webhookCheckMs: 60_000,
  /** Two changes of one message: more often, and Telegram asks for ever longer pauses. */
  editEveryMs: { private: 1_100, group: 3_100 },
} as const;
