/** The response to a call. */
export interface ApiReply {
  readonly status: number;
  /** The body of the response. If absent, the response has no content. */
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  /** Sent instead of `body`. */
  readonly bytes?: Uint8Array;
}

export function ok(body: unknown): ApiReply {
  return { status: 200, body };
}

export const done: ApiReply = { status: 204 };

/** Returns an error in Discord's format. */
function refuse(status: number, code: number, message: string, errors?: unknown): ApiReply {
  return { status, body: { message, code, errors } };
}

/** Error responses. Source: Discord's table of JSON error codes. */
export const refusals = {
  unauthorized: (): ApiReply => refuse(401, 0, "401: Unauthorized"),
  noSuchPath: (): ApiReply => refuse(404, 0, "404: Not Found"),
  unknownChannel: (): ApiReply => refuse(404, 10003, "Unknown Channel"),
  unknownMessage: (): ApiReply => refuse(404, 10008, "Unknown Message"),
  unknownUser: (): ApiReply => refuse(404, 10013, "Unknown User"),
  unknownEmoji: (): ApiReply => refuse(400, 10014, "Unknown Emoji"),
  unknownWebhook: (): ApiReply => refuse(404, 10015, "Unknown Webhook"),
  unknownInteraction: (): ApiReply => refuse(404, 10062, "Unknown interaction"),
  alreadyAcknowledged: (): ApiReply => refuse(400, 40060, "Interaction has already been acknowledged."),
  tooLarge: (): ApiReply => refuse(413, 40005, "Request entity too large"),
  missingAccess: (): ApiReply => refuse(403, 50001, "Missing Access"),
  pollExpired: (): ApiReply => refuse(400, 520_001, "Poll expired"),
  notTheAuthor: (): ApiReply => refuse(403, 50005, "Cannot edit a message authored by another user"),
  emptyMessage: (): ApiReply => refuse(400, 50006, "Cannot send an empty message"),
  noTextChannel: (): ApiReply => refuse(400, 50008, "Cannot send messages in a non-text channel"),
  noSingleRecording: (): ApiReply =>
    refuse(400, 50161, "Voice messages must have a single audio attachment."),
  noRecordingMetadata: (): ApiReply => refuse(400, 50162, "Voice messages must have supporting metadata."),
  noVoiceMessages: (): ApiReply => refuse(400, 50173, "Cannot send voice messages in this channel."),
  expiredToken: (): ApiReply => refuse(401, 50027, "Invalid Webhook Token"),
  invalidForm: (field: string, why: string): ApiReply =>
    refuse(400, 50035, "Invalid Form Body", { [field]: { _errors: [{ code: "INVALID", message: why }] } }),
  /** Without a time, as from the proxies in front of Discord. */
  rateLimited: (seconds: number | undefined): ApiReply =>
    seconds === undefined
      ? {
          status: 429,
          body: { message: "You are being blocked from accessing our API temporarily", code: 0 },
        }
      : {
          status: 429,
          body: { message: "You are being rate limited.", retry_after: seconds, global: false },
          headers: {
            "retry-after": String(Math.ceil(seconds)),
            "x-ratelimit-limit": "5",
            "x-ratelimit-remaining": "0",
            "x-ratelimit-reset-after": String(seconds),
            "x-ratelimit-bucket": "fake",
            "x-ratelimit-scope": "user",
          },
        },
} as const;
