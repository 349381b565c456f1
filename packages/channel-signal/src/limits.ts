/**
 * Limits of Signal and signal-cli. Sources: `signal-cli(1)`, `signal-cli-jsonrpc(5)`, and the sources of signal-cli
 * 0.14 (`HttpServerHandler`, `SendCommand`).
 */
export const limits = {
  /**
   * Maximum length of a part in UTF-16 code units. signal-cli sends a text of more than 2,000 bytes as an attachment,
   * which the apps show as text.
   */
  partLength: 4_000,
  /** Maximum number of styled ranges per message. The others are sent without their style. */
  styles: 200,
  /** Maximum size of a received attachment in bytes. */
  mediaBytes: 20_971_520,
  /**
   * Maximum size of a sent attachment in bytes. Attachments are sent as base64 in JSON, whose parser accepts strings of
   * at most 20,000,000 characters (Jackson's `StreamReadConstraints`).
   */
  uploadBytes: 14_000_000,
  /** Time within which the apps accept edits. */
  editWindowMs: 86_400_000,
  /** Maximum number of remembered ids of removed messages. */
  removedIds: 1_000,
  messagesPerSecond: 1,
  messageBurst: 5,
  /** Wait after a rate limit without a time. */
  rateWaitMs: 60_000,
  requestTimeoutMs: 15_000,
  /** Time limit for sending a message, which includes the upload of its attachment to Signal. */
  sendTimeoutMs: 120_000,
  /**
   * Time limit for opening the event stream. signal-cli before 0.14.4 sends the headers only with the first keep-alive,
   * after 15 seconds (AsamK/signal-cli#2033).
   */
  connectMs: 20_000,
  /** Maximum silence of the event stream. signal-cli sends a keep-alive every 15 seconds. */
  silenceMs: 45_000,
  /** Maximum length of one event of the stream in characters. */
  eventLength: 10_000_000,
  /** Time limit for looking up the names of mentioned people. */
  namesMs: 2_000,
  /** Oldest version of signal-cli whose interface was read for this package. */
  oldestVersion: "0.14.4",
} as const;
