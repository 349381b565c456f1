/** The response to a call. */
export interface ApiReply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Record<string, string>;
  /** Sent instead of `body`. */
  readonly bytes?: Uint8Array;
}

export function ok(data: unknown): ApiReply {
  return { status: 200, body: { code: 0, msg: "success", data } };
}

/** Returns an error in Feishu's format: a business code in the body, mostly with HTTP 400. */
export function refuse(
  code: number,
  msg: string,
  status = 400,
  headers: Record<string, string> = {},
): ApiReply {
  return { status, body: { code, msg, error: { log_id: `log-${code}` } }, headers };
}

/** Error codes with their texts. */
export const refusals = {
  missingToken: (): ApiReply => refuse(99991661, "Missing access token for authorization."),
  invalidToken: (): ApiReply => refuse(99991663, "Invalid access token for authorization."),
  fieldValidation: (field: string): ApiReply =>
    refuse(99992402, `field validation failed: ${field} is required`),
  invalidParameter: (why: string): ApiReply =>
    refuse(230001, `Your request contains an invalid request parameter, ext=${why}`),
  notInChat: (): ApiReply => refuse(230002, "The bot can not be outside the group."),
  withdrawn: (): ApiReply => refuse(230011, "The message was withdrawn."),
  notOwner: (): ApiReply => refuse(230017, "Bot is NOT the owner of the resource."),
  tooFrequent: (): ApiReply => refuse(230020, "This operation triggers the frequency limit."),
  tooOld: (): ApiReply => refuse(230031, "Message can only be modified within 14 days after sending."),
  editedTooOften: (): ApiReply =>
    refuse(230072, "The message has reached the number of times it can be edited."),
  tooLong: (): ApiReply => refuse(230025, "The length of the message content reaches its limit."),
  noSuchMessage: (): ApiReply => refuse(230011, "The message was not found or was withdrawn."),
  cardFailed: (why: string): ApiReply => refuse(230099, `Failed to create card content, ext=${why}`),
  cardTooLarge: (): ApiReply => refuse(200860, "Card content exceeds limit."),
  missingScope: (scope: string): ApiReply =>
    refuse(99991672, `Access denied. One of the following scopes is required: [${scope}].`),
  rateLimited: (resetSeconds: number | undefined): ApiReply =>
    refuse(
      99991400,
      "request trigger frequency limit",
      429,
      resetSeconds === undefined
        ? {}
        : { "x-ogw-ratelimit-limit": "5", "x-ogw-ratelimit-reset": `${resetSeconds}` },
    ),
} as const;
