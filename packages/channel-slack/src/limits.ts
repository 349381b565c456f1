/**
 * Slack's limits. Sources: the reference pages of the Web API methods and of Block Kit (12,000 characters in
 * `markdown_text` and Markdown blocks, 3,000 in sections, 25 elements, labels of 75, values of 2,000, ids of
 * 255, options of 75; modals: title of 24, private metadata of 3,000, label of 2,000 and text of 3,000; text
 * recommended up to 4,000 and truncated above 40,000), "Rate limits" (tiers 2, 3 and 4: 20, 50 and 100 calls
 * a minute; one message a second per conversation; history once a minute with 15 messages for distributed
 * apps outside the Marketplace), "Events API" and "Verifying requests" (response within 3 s; retries at once,
 * after 1 and 5 minutes; signatures up to 5 minutes old), "Slash commands" (`response_url` valid for 30
 * minutes), and slackapi/node-slack-sdk#2702 for the lifetime of streams.
 */
export const limits = {
  /** One part of an answer, in UTF-16 code units. */
  partLength: 12_000,
  /** Fallback text for notifications and screen readers, next to blocks. */
  fallbackLength: 3_900,
  /** Text without blocks. Slack truncates anything longer. */
  textLength: 40_000,
  buttons: 25,
  /** More equal buttons than this become a menu. */
  buttonsAtOnce: 5,
  labelLength: 75,
  /** Value of a menu option. */
  optionLength: 75,
  /** Characters in a form: its title, the label of its field, the input, and the text above it. */
  formTitleLength: 24,
  formLabelLength: 2_000,
  formTextLength: 3_000,
  sectionLength: 3_000,
  actionIdLength: 255,
  callbackBytes: 2_000,
  /** Validity of a `trigger_id` for opening a form. */
  triggerMs: 3_000,
  /** Validity of a `response_url`, minus one minute. */
  commandMs: 1_740_000,
  /** Slack accepts 1 GB, but an upload is held in memory. */
  uploadBytes: 104_857_600,
  mediaBytes: 104_857_600,
  mediaPerMessage: 20,
  messagesPerSecond: 1,
  messageBurst: 3,
  requestsPerSecond: 2,
  requestBurst: 20,
  /** Body of a webhook request in bytes. */
  bodyBytes: 1_048_576,
  signatureAgeMs: 300_000,
  /** Slack ends a stream after five minutes. The channel ends it earlier. */
  streamMs: 270_000,
  requestTimeoutMs: 15_000,
  uploadTimeoutMs: 120_000,
  /** Default wait if a rate-limited response has no `Retry-After`. */
  rateWaitMs: 5_000,
  /** Deadline for lookups before an event is acknowledged. */
  lookupMs: 1_500,
  /** The longest delay of an event whose conversation is read for missed messages. Slack waits 3 s. */
  orderMs: 1_000,
  /** Mentioned users per message whose names are looked up. */
  namesLookedUp: 20,
  /**
   * Deadline for the pong to a ping of ours, and the longest time without a ping of Slack's. The SDK sends a ping every
   * third of the deadline.
   */
  pongMs: 10_000,
  serverPingMs: 60_000,
  /** Interval between checks of the SDK's socket. The SDK reports a dead socket up to 30 s later. */
  socketCheckMs: 5_000,
  /** Time for which a dead socket may have gone unnoticed. */
  unnoticedMs: 60_000,
  /** Interval and deadline of the credential check of webhook accounts. */
  probeEveryMs: 300_000,
  probeMs: 15_000,
} as const;
