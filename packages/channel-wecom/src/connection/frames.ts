import { randomBytes } from "node:crypto";
import { isPayload, type Payload } from "@signalbox/channel";

/** Commands of the long connection. Source: `WsCmd` of `@wecom/aibot-node-sdk` 1.0.7. */
export const commands = {
  subscribe: "aibot_subscribe",
  heartbeat: "ping",
  respond: "aibot_respond_msg",
  send: "aibot_send_msg",
  uploadInit: "aibot_upload_media_init",
  uploadChunk: "aibot_upload_media_chunk",
  uploadFinish: "aibot_upload_media_finish",
  message: "aibot_msg_callback",
  event: "aibot_event_callback",
} as const;

/** A frame to WeCom. */
export interface OutgoingFrame {
  readonly cmd: string;
  readonly headers: { readonly req_id: string };
  readonly body?: Payload;
}

/** A callback, or the acknowledgment of a frame, which has no command. */
export interface IncomingFrame {
  readonly cmd?: string | undefined;
  readonly reqId: string;
  readonly body: Payload;
  readonly errcode?: number | undefined;
  readonly errmsg?: string | undefined;
}

/** Reads a frame. Returns `undefined` if it is not one. */
export function readFrame(text: string): IncomingFrame | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isPayload(value)) return undefined;
  const { cmd, headers, body, errcode, errmsg } = value;
  if (!isPayload(headers) || typeof headers["req_id"] !== "string") return undefined;
  return {
    cmd: typeof cmd === "string" ? cmd : undefined,
    reqId: headers["req_id"],
    body: isPayload(body) ? body : {},
    errcode: typeof errcode === "number" ? errcode : undefined,
    errmsg: typeof errmsg === "string" ? errmsg : undefined,
  };
}

/** Creates an id for a frame, in the format of WeCom's SDK. */
export function createReqId(command: string): string {
  return `${command}_${Date.now()}_${randomBytes(4).toString("hex")}`;
}
