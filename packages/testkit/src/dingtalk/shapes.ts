import { isRaw, type Raw } from "../raw.ts";

type Kind = "string" | "boolean" | "number" | "strings" | "object" | "texts";

/** The fields of a request body. The names of required fields end with `!`. */
type Shape = Readonly<Record<string, Kind>>;

const card: Shape = {
  "outTrackId!": "string",
  "cardData!": "object",
  userIdType: "number",
};

/** Request bodies by method and path. Source: the models of `@alicloud/dingtalk` 2.2.27. */
const shapes: Readonly<Record<string, Shape>> = {
  "POST /v1.0/oauth2/accessToken": { "appKey!": "string", "appSecret!": "string" },
  "POST /v1.0/robot/oToMessages/batchSend": {
    "msgKey!": "string",
    "msgParam!": "string",
    "robotCode!": "string",
    "userIds!": "strings",
  },
  "POST /v1.0/robot/groupMessages/send": {
    "msgKey!": "string",
    "msgParam!": "string",
    "robotCode!": "string",
    "openConversationId!": "string",
    coolAppCode: "string",
    token: "string",
  },
  "POST /v1.0/robot/otoMessages/batchRecall": { "processQueryKeys!": "strings", "robotCode!": "string" },
  "POST /v1.0/robot/groupMessages/recall": {
    "openConversationId!": "string",
    "processQueryKeys!": "strings",
    "robotCode!": "string",
  },
  "POST /v1.0/robot/messageFiles/download": { "downloadCode!": "string", "robotCode!": "string" },
  "POST /v1.0/card/instances/createAndDeliver": {
    ...card,
    "cardTemplateId!": "string",
    "openSpaceId!": "string",
    callbackType: "string",
    callbackRouteKey: "string",
    cardAtUserIds: "strings",
    imGroupOpenDeliverModel: "object",
    imGroupOpenSpaceModel: "object",
    imRobotOpenDeliverModel: "object",
    imRobotOpenSpaceModel: "object",
    privateData: "object",
    userId: "string",
  },
  "PUT /v1.0/card/instances": { ...card, cardUpdateOptions: "object", privateData: "object" },
  "PUT /v1.0/card/streaming": {
    "outTrackId!": "string",
    "guid!": "string",
    "key!": "string",
    "content!": "texts",
    isFull: "boolean",
    isFinalize: "boolean",
    isError: "boolean",
  },
};

const isKind: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string" && value !== "",
  texts: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  number: (value) => typeof value === "number",
  strings: (value) =>
    Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "string"),
  object: isRaw,
};

/** Returns the first field of a request that is missing, unknown or of the wrong type. */
export function findWrongField(call: string, body: Raw): string | undefined {
  const shape = shapes[call];
  if (shape === undefined) return undefined;
  const fields = new Map(Object.entries(shape).map(([name, kind]) => [name.replace("!", ""), kind]));
  const missing = Object.keys(shape).find(
    (name) => name.endsWith("!") && body[name.slice(0, -1)] === undefined,
  );
  if (missing !== undefined) return missing.slice(0, -1);
  return Object.entries(body).find(([name, value]) => {
    const kind = fields.get(name);
    return kind === undefined || !isKind[kind](value);
  })?.[0];
}
