/**
 * Telegram's limits. Sources: the Bot API reference (sendMessage, "Rich Message Limits", getUpdates,
 * setWebhook, InlineKeyboardButton, sendPoll, sendPhoto, sendDocument, getFile, setMyCommands) and the FAQ
 * "My bot is hitting limits" (about one message a second per chat, 20 a minute per group, 30 a second in
 * total).
 */
export const limits = {
  /**
   * Text of a message after its entities are parsed, in UTF-16 code units. Entity offsets use the same unit.
   */
  partLength: 4_096,
  /** Entities per message. Telegram silently drops the rest. */
  entities: 100,
  /** Blocks per rich message, including nested blocks, list items and table rows. */
  rich: { blocks: 500, depth: 16, columns: 20 },
  buttons: 100,
  labelLength: 64,
  /** Bytes in `callback_data`. */
  callbackBytes: 64,
  /** Bytes of a longer value that is stored here instead. */
  valueBytes: 1_000,
  /** Stored button values per bot. */
  rememberedButtons: 400,
  /** Commands per list, and characters per description. */
  commands: 100,
  descriptionLength: 256,
  poll: { options: 10, questionLength: 300, optionLength: 100 },
  /** Size of a file that `getFile` serves. */
  mediaBytes: 20_971_520,
  messagesPerSecond: 1,
  messageBurst: 3,
  requestsPerSecond: 25,
  photoBytes: 10_485_760,
  uploadBytes: 52_428_800,
  /** Body of a webhook request. */
  bodyBytes: 1_048_576,
  /** Long-polling timeout in seconds. */
  pollSeconds: 20,
  /** Deadline for a long-polling request, so that a dead connection is noticed within 30 s. */
  pollTimeoutMs: 28_000,
  updatesPerPoll: 100,
  /** Pause before fetching updates again that the host rejected. */
  refusedUpdateMs: 1_000,
  /** Wait for further parts of an album after the latest one, and the maximum number of such waits. */
  albumMs: 500,
  albumRounds: 5,
  /** Message ids that are remembered to look for a message whose receipt was lost. */
  rememberedIds: 1_000,
  /** Ids beyond the latest known one that such a message can have, for updates that have not arrived yet. */
  unseenIds: 20,
  /** The most ids that are probed for one message. */
  probedIds: 60,
  requestTimeoutMs: 15_000,
  uploadTimeoutMs: 120_000,
  /** Deadline for one connection attempt. */
  connectMs: 20_000,
  /** Interval between webhook status checks. */
  webhookCheckMs: 60_000,
  /** Interval between edits of one message. Editing faster makes Telegram demand growing pauses. */
  editEveryMs: { private: 1_100, group: 3_100 },
} as const;
