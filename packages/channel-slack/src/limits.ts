/**
 * What Slack allows. Sources: the reference pages of the Web API's methods and of Block Kit (text of 12,000 characters
 * in `markdown_text` and Markdown blocks, sections of 3,000, 25 elements, labels of 75, values of 2,000, ids of 255,
 * options of 75; a modal's title of 24, its own data of 3,000, an input's label of 2,000 and text of 3,000; text
 * advised up to 4,000 and cut above 40,000), the page on rate limits (tiers 2, 3 and 4: 20, 50 and 100 calls a minute;
 * one message a second and conversation; history once a minute and 15 messages for apps that are given to others
 * outside the marketplace), the pages on the Events API and on verifying requests (an answer within 3 s; deliveries
 * again at once, after a minute and after 5; signatures not older than 5 minutes), on slash commands (answers to the
 * address that came with one for half an hour), and slackapi/node-slack-sdk#2702
 * for the life of streams.
 */
export const limits = {
  /** One part of an answer, in UTF-16 units. */
  partLength: 12_000,
  /** What notifications and screen readers get of a message that has blocks. */
  fallbackLength: 3_900,
  /** A text without blocks, before Slack cuts it. */
  textLength: 40_000,
  buttons: 25,
  /** More than so many of a kind are a menu. */
  buttonsAtOnce: 5,
  labelLength: 75,
  /** What an option of a menu may hold. */
  optionLength: 75,
  /** Of a form: its title, the label of its field, what may be written into that, and the text above it. */
  formTitleLength: 24,
  formLabelLength: 2_000,
  formTextLength: 3_000,
  sectionLength: 3_000,
  actionIdLength: 255,
  callbackBytes: 2_000,
  /** How long a click is good for opening a form. */
  triggerMs: 3_000,
  /** For how long Slack takes an answer to a command at the address that came with it: a minute less. */
  commandMs: 1_740_000,
  /** Slack takes a gigabyte; an upload goes through memory here. */
  uploadBytes: 104_857_600,
  mediaBytes: 104_857_600,
  mediaPerMessage: 20,
  messagesPerSecond: 1,
  messageBurst: 3,
  requestsPerSecond: 2,
  requestBurst: 20,
  /** A pushed event, in bytes. */
  bodyBytes: 1_048_576,
  signatureAgeMs: 300_000,
  /** Slack ends a stream after five minutes; it is ended here before. */
  streamMs: 270_000,
  requestTimeoutMs: 15_000,
  uploadTimeoutMs: 120_000,
  /** Where Slack refuses a call for its rate and names no time. */
  rateWaitMs: 5_000,
  /** What has to be looked up before an event is acknowledged has to be found out in that time. */
  lookupMs: 1_500,
  /** People in one message whose names are asked for. */
  namesLookedUp: 20,
  /** A socket that does not answer a ping in that time is dead; Slack itself pings more often. */
  pongMs: 10_000,
  serverPingMs: 60_000,
  /** How often it is looked whether the SDK has given a socket up; it waits half a minute more before it says so. */
  socketCheckMs: 5_000,
  /** For so long a dead socket may have gone unnoticed. */
  unnoticedMs: 60_000,
  /** Without sockets, how often the credentials are tried, and how long an answer may take. */
  probeEveryMs: 300_000,
  probeMs: 15_000,
} as const;
