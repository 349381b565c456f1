import { type AccountCheck, isChannelError, type Payload, reasonOf } from "@signalbox/channel";
import type { DingTalkApi } from "./api.ts";

interface Probe {
  readonly about: string;
  readonly scope: string;
  readonly method: "POST" | "PUT";
  readonly path: string;
  /** A request without an effect: DingTalk refuses its content, but checks the permission first. */
  readonly body: (robotCode: string) => Payload;
  readonly granted: string;
  readonly missing: string;
}

const NOWHERE = "signalbox-doctor";

const probes: readonly Probe[] = [
  {
    about: "messages",
    scope: "qyapi_robot_sendmsg",
    method: "POST",
    path: "/v1.0/robot/messageFiles/download",
    body: (robotCode) => ({ robotCode, downloadCode: NOWHERE }),
    granted: "the bot may send messages and read attachments",
    missing: "the bot may not send messages or read attachments",
  },
  {
    about: "cards",
    scope: "Card.Instance.Write",
    method: "PUT",
    path: "/v1.0/card/instances",
    body: () => ({ outTrackId: NOWHERE, cardData: { cardParamMap: {} } }),
    granted: "the app may create cards",
    missing: "answers are not shown while they are written, because the app may not create cards",
  },
  {
    about: "streaming",
    scope: "Card.Streaming.Write",
    method: "PUT",
    path: "/v1.0/card/streaming",
    body: () => ({
      outTrackId: NOWHERE,
      guid: NOWHERE,
      key: "msgContent",
      content: "",
      isFull: true,
      isFinalize: false,
      isError: false,
    }),
    granted: "the app may stream text into cards",
    missing: "answers are not shown while they are written, because the app may not stream into cards",
  },
];

/** Checks the credentials and the app's permissions. */
export async function checkApp(api: DingTalkApi, signal: AbortSignal): Promise<readonly AccountCheck[]> {
  try {
    await api.authenticate(signal);
  } catch (error) {
    return [
      {
        about: "credentials",
        ok: false,
        detail: reasonOf(error),
        remedy:
          "Copy the Client ID and the Client Secret again from the app's page in the developer console (open-dev.dingtalk.com).",
      },
    ];
  }
  const credentials = {
    about: "credentials",
    ok: true,
    detail: "DingTalk accepts the client id and its secret",
  };
  return [credentials, ...(await Promise.all(probes.map((probe) => check(api, probe, signal))))];
}

async function check(api: DingTalkApi, probe: Probe, signal: AbortSignal): Promise<AccountCheck> {
  const { about, scope, method, path, body, granted, missing } = probe;
  const call = {
    what: "checking a permission",
    method,
    path,
    body: body(api.robotCode),
    write: false,
    signal,
  };
  const error: unknown = await api.call(call).catch((reason: unknown) => reason);
  if (isChannelError(error) && error.code === "permission") {
    const remedy = `Grant the app the permission ${scope} in the developer console (Development > Permissions), then publish a new version.`;
    return { about, ok: false, detail: missing, remedy };
  }
  if (isChannelError(error) && ["transient", "rate_limited", "unknown_outcome", "auth"].includes(error.code))
    return { about, ok: false, detail: error.message, remedy: "Run `signalbox doctor` again later." };
  return { about, ok: true, detail: granted };
}
