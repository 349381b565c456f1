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
  /** Maximum length of one part of an answer, in UTF-16 code units. */
  partLength: 12_000,
  /** Maximum length of the fallback text for notifications and screen readers, next to blocks. */
  fallbackLength: 3_900,
  /** Maximum length of text without blocks. Slack truncates anything longer. */
  textLength: 40_000,
  buttons: 25,
  /** Maximum number of equal buttons. More of them become a menu. */
  buttonsAtOnce: 5,
  labelLength: 75,
  /** Maximum length of the value of a menu option. */
  optionLength: 75,
  /** Maximum lengths in a form in characters: its title, the label of its field, the input, and the text above it. */
  formTitleLength: 24,
  formLabelLength: 2_000,
  formTextLength: 3_000,
  sectionLength: 3_000,
  actionIdLength: 255,
  callbackBytes: 2_000,
  /** Lifetime of a `trigger_id` for opening a form. */
  triggerMs: 3_000,
  /** Lifetime of a `response_url`, minus one minute. */
  commandMs: 1_740_000,
  /** Maximum upload size in bytes. Slack accepts 1 GB, but an upload is held in memory. */
  uploadBytes: 104_857_600,
  mediaBytes: 104_857_600,
  mediaPerMessage: 20,
  messagesPerSecond: 1,
  messageBurst: 3,
  requestsPerSecond: 2,
  requestBurst: 20,
  /** Maximum body size of a webhook request in bytes. */
  bodyBytes: 1_048_576,
  signatureAgeMs: 300_000,
  /** Milliseconds after which the channel ends a stream. Slack ends it after five minutes. */
  streamMs: 270_000,
  requestTimeoutMs: 15_000,
  uploadTimeoutMs: 120_000,
  /** Default delay if a rate-limited response has no `Retry-After`. */
  rateWaitMs: 5_000,
  /** Time limit for lookups before an event is acknowledged. */
  lookupMs: 1_500,
  /** Maximum delay of an event whose conversation is being read for missed messages. Slack waits 3 s. */
  orderMs: 1_000,
  /** Maximum number of mentioned users per message whose names are looked up. */
  namesLookedUp: 20,
  /**
   * Time limit for Slack's pong to our ping, and the maximum time without a ping from Slack. The SDK sends a ping every
   * third of the time limit.
   */
  pongMs: 10_000,
  serverPingMs: 60_000,
  /** Interval between checks of the SDK's socket. The SDK reports a dead socket up to 30 s later. */
  socketCheckMs: 5_000,
  /** Maximum time for which a dead socket may have gone unnoticed. */
  unnoticedMs: 60_000,
  /** Interval and time limit of the credential check of webhook accounts. */
  probeEveryMs: 300_000,
  probeMs: 15_000,
} as const;
