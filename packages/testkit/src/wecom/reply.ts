import type { Raw } from "../raw.ts";

/** The acknowledgment of a frame. */
export interface Ack {
  readonly errcode: number;
  readonly errmsg: string;
  readonly body?: Raw;
}

export function ok(body?: Raw): Ack {
  return { errcode: 0, errmsg: "ok", body: body || undefined };
}

function refuse(errcode: number, errmsg: string): Ack {
  return { errcode, errmsg };
}

/**
 * WeCom's refusals. Codes above 800,000 are those that users of the long connection reported; the others are from the
 * page of global error codes.
 */
export const refusals = {
  busy: (): Ack => refuse(-1, "system error"),
  credentials: (): Ack => refuse(853000, "invalid bot_id or secret"),
  reqId: (): Ack => refuse(846605, "invalid req_id"),
  streamEnded: (): Ack => refuse(846608, "stream message update expired (>10 minutes), cannot update"),
  chat: (): Ack => refuse(40003, "invalid userid or chatid"),
  mediaId: (): Ack => refuse(40007, "invalid media_id"),
  msgtype: (): Ack => refuse(40008, "invalid message type"),
  parameter: (what: string): Ack => refuse(40035, `invalid parameter: ${what}`),
  tooLong: (): Ack => refuse(45002, "content size out of limit"),
  fileSize: (): Ack => refuse(40006, "invalid file size"),
  rate: (): Ack => refuse(45009, "reach max api daily quota limit"),
} as const;
