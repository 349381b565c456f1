/**
 * Telegram's limits. Sources: the Bot API reference (sendMessage, "Rich Message Limits", getUpdates,
 * setWebhook, InlineKeyboardButton, sendPoll, sendPhoto, sendDocument, getFile, setMyCommands) and the FAQ
 * "My bot is hitting limits" (about one message a second per chat, 20 a minute per group, 30 a second in
 * total).
 */
export const limits = {
  /**
   * Maximum length of a message text after parsing its entities, in UTF-16 code units. Entity offsets use the same
   * unit.
   */
  partLength: 4_096,
  /** Maximum number of entities per message. Telegram silently drops the rest. */
  entities: 100,
  /**
   * Maximum number of blocks per rich message, including nested blocks, list items and table rows, maximum depth, and
   * maximum number of columns.
   */
  rich: { blocks: 500, depth: 16, columns: 20 },
  buttons: 100,
  labelLength: 64,
  /** Maximum size of `callback_data` in bytes. */
  callbackBytes: 64,
  /** Maximum size of a longer value that is stored here instead, in bytes. */
  valueBytes: 1_000,
  /** Maximum number of stored button values per bot. */
  rememberedButtons: 400,
  /** Maximum number of commands per list, and maximum length of a description in characters. */
  commands: 100,
  descriptionLength: 256,
  poll: { options: 10, questionLength: 300, optionLength: 100 },
  /** Maximum size of a file that `getFile` serves, in bytes. */
  mediaBytes: 20_971_520,
  messagesPerSecond: 1,
  messageBurst: 3,
  requestsPerSecond: 25,
  photoBytes: 10_485_760,
  uploadBytes: 52_428_800,
  /** Maximum body size of a webhook request in bytes. */
  bodyBytes: 1_048_576,
  /** Long-polling timeout in seconds. */
  pollSeconds: 20,
  /** Time limit for a long-polling request. A dead connection is noticed within 30 s. */
  pollTimeoutMs: 28_000,
  updatesPerPoll: 100,
  /** Delay before fetching updates again that the host has rejected. */
  refusedUpdateMs: 1_000,
  /** Time to wait for further items of an album after the latest one, and the maximum number of such waits. */
  albumMs: 500,
  albumRounds: 5,
  /** Maximum number of remembered message ids. They are used to look for a message whose receipt was lost. */
  rememberedIds: 1_000,
  /**
   * Number of ids above the latest known one that such a message may have, because some updates may not have arrived
   * yet.
   */
  unseenIds: 20,
  /** Maximum number of ids that are probed for one message. */
  probedIds: 60,
  requestTimeoutMs: 15_000,
  uploadTimeoutMs: 120_000,
  /** Time limit for one connection attempt. */
  connectMs: 20_000,
  /** Interval between checks of the webhook status. */
  webhookCheckMs: 60_000,
  /** Minimum interval between edits of one message. If edits are faster, Telegram demands increasing pauses. */
  editEveryMs: { private: 1_100, group: 3_100 },
} as const;
