/**
 * WeCom's limits. Sources: the developer pages on the long connection of AI bots (document/path/101463), on received
 * messages (100719), on encrypted callbacks (101033) and on replies by URL (101138), and the types and source of
 * `@wecom/aibot-node-sdk` 1.0.7.
 */
export const limits = {
  /** Maximum size of the Markdown of one message, in bytes. */
  contentBytes: 20_480,
  /** Rate limit of one conversation: 30 messages a minute. WeCom also permits at most 1,000 an hour. */
  messagesPerSecond: 0.5,
  messageBurst: 30,
  /** Delay after a rate limit in milliseconds. WeCom does not report when a request is permitted again. */
  rateWaitMs: 3_000,
  /** Time for which a message can be answered with its `req_id`, in milliseconds. */
  replyWindowMs: 86_400_000,
  /** Time for which a stream can be updated after its first frame, in milliseconds. Reports name 6 and 10 minutes. */
  streamWindowMs: 360_000,
  /** Time for which a `response_url` can be used, in milliseconds. It can be used once. */
  responseUrlMs: 3_600_000,
  /** Number of `response_url`s that are stored. */
  responseUrls: 2_048,
  /** Maximum size of an attachment from a person, in bytes. WeCom permits larger files; they are refused here. */
  mediaBytes: 20_971_520,
  mediaPerMessage: 20,
  /** Maximum sizes of attachments to send, in bytes. */
  imageUploadBytes: 10_485_760,
  videoUploadBytes: 10_485_760,
  fileUploadBytes: 20_971_520,
  /** Size of one piece of an upload in bytes, before it is encoded as base64. */
  uploadPieceBytes: 524_288,
  /** Maximum length of the file name of an upload, in UTF-8 bytes. */
  fileNameBytes: 256,
  /** Maximum size of a frame from WeCom in bytes. Frames contain texts and links, never attachments. */
  frameBytes: 1_048_576,
  /** Maximum body size of a callback in bytes. */
  bodyBytes: 1_048_576,
  /** Maximum age of a signed callback in milliseconds. */
  signatureAgeMs: 300_000,
  /** Time limit for the acknowledgment of a frame in milliseconds, as in WeCom's SDK. */
  ackMs: 5_000,
  /** Time limit for opening a connection in milliseconds. */
  connectMs: 15_000,
  /** Time for which a request waits for a connection that is being reopened, in milliseconds. */
  reconnectWaitMs: 5_000,
  /** Interval of heartbeats in milliseconds, as in WeCom's SDK. */
  heartbeatMs: 30_000,
  /**
   * First and maximum pause in milliseconds after another program has connected as the same bot. WeCom permits one
   * connection per bot. Without pauses, two programs would disconnect each other continuously.
   */
  displacedMs: 20_000,
  maxDisplacedMs: 300_000,
  /** Maximum number of received events that wait for the host. Further ones are dropped and reported as a gap. */
  maxWaiting: 1_000,
  requestTimeoutMs: 15_000,
} as const;
