import { randomUUID } from "node:crypto";
import { parseJson } from "../http.ts";
import { isRaw, type Raw } from "../raw.ts";
import { type ApiReply, ok, refuse } from "./reply.ts";
import type { Destination, Sent } from "./sent.ts";
import type { Uploads } from "./uploads.ts";

/** Fields of the message templates. Source: DingTalk's page "Message types". */
const templates: Readonly<Record<string, readonly string[]>> = {
  sampleText: ["content"],
  sampleMarkdown: ["title", "text"],
  sampleImageMsg: ["photoURL"],
  sampleAudio: ["mediaId", "duration"],
  sampleFile: ["mediaId", "fileName", "fileType"],
};

/** Source: DingTalk's page "Send group chat messages with a bot". */
const MAX_PARAMETER_BYTES = 15_000;

export interface Places {
  /** Ids of the people whom the bot may write to. */
  readonly users: ReadonlySet<string>;
  /** Groups that the bot has joined. */
  readonly groups: ReadonlySet<string>;
  readonly robotCode: string;
}

/** Messages that are sent through the API of bots. */
export class Messages {
  readonly #places: Places;
  readonly #sent: Sent;
  readonly #uploads: Uploads;

  constructor(places: Places, sent: Sent, uploads: Uploads) {
    this.#places = places;
    this.#sent = sent;
    this.#uploads = uploads;
  }

  sendToPeople(body: Raw): ApiReply {
    const userIds = Array.isArray(body["userIds"]) ? body["userIds"].map(String) : [];
    if (userIds.length > 20) return refuse(400, "invalidParameter.userIds.overMax");
    const invalid = userIds.filter((id) => !this.#places.users.has(id));
    if (invalid.length === userIds.length) return refuse(400, "staffId.notExisted", "未找到用户");
    const [userId = ""] = userIds.filter((id) => this.#places.users.has(id));
    const sent = this.#send({ userId }, body);
    return typeof sent === "string"
      ? ok({ processQueryKey: sent, invalidStaffIdList: invalid, flowControlledStaffIdList: [] })
      : sent;
  }

  sendToGroup(body: Raw): ApiReply {
    const conversationId = String(body["openConversationId"]);
    if (!this.#places.groups.has(conversationId)) return refuse(400, "resource.not.found", "robot 不在群中");
    const sent = this.#send({ conversationId }, body);
    return typeof sent === "string" ? ok({ processQueryKey: sent }) : sent;
  }

  recall(body: Raw, inConversation: (to: Destination) => boolean): ApiReply {
    const keys = Array.isArray(body["processQueryKeys"]) ? body["processQueryKeys"].map(String) : [];
    const successResult: string[] = [];
    const failedResult: Record<string, string> = {};
    for (const key of keys) {
      const index = this.#sent.findIndex((one) => isCalled(one, key) && inConversation(one.to));
      const message = this.#sent[index];
      if (message === undefined || message.isRecalled) failedResult[key] = "PROCESS_QUERY_KEY_NOT_EXIST";
      else {
        this.#sent[index] = { ...message, isRecalled: true };
        successResult.push(key);
      }
    }
    return ok({ successResult, failedResult });
  }

  #send(to: Destination, { robotCode, msgKey, msgParam }: Raw): string | ApiReply {
    if (robotCode !== this.#places.robotCode) return refuse(400, "invalidParameter.robotCode.auth");
    const fields = templates[String(msgKey)];
    if (fields === undefined) return refuse(400, "invalidParameter.msgKey.invalid");
    if (Buffer.byteLength(String(msgParam)) > MAX_PARAMETER_BYTES)
      return refuse(400, "invalidParameter.msgParam.overLength");
    const parameters = parseJson(String(msgParam));
    if (!isRaw(parameters)) return refuse(400, "invalidParameter.msgParam.invalid");
    const wrong = [...fields, ...Object.keys(parameters)].find(
      (name) => !fields.includes(name) || typeof parameters[name] !== "string" || parameters[name] === "",
    );
    if (wrong !== undefined) return refuse(400, "invalidParameter.msgParam.invalid", `msgParam.${wrong}`);
    const upload = this.#uploads.shownBy(String(msgKey), parameters);
    if (typeof upload === "string")
      return refuse(400, "invalidParameter.msgParam.invalid", `msgParam.${upload}`);
    const id = randomUUID();
    const text = String(parameters["content"] ?? parameters["text"] ?? `[${upload?.type}]`);
    this.#sent.push({
      id,
      to,
      kind: String(msgKey),
      text,
      title: typeof parameters["title"] === "string" ? parameters["title"] : undefined,
      upload,
      fileName: typeof parameters["fileName"] === "string" ? parameters["fileName"] : undefined,
      shown: [text],
      isFinished: true,
      buttons: [],
      isRecalled: false,
    });
    return id;
  }
}

function isCalled({ id, kind }: { readonly id: string; readonly kind: string }, key: string): boolean {
  return key === (kind === "card" ? carrierOf(id) : id);
}

/** The id of the message that shows a card. */
export function carrierOf(outTrackId: string): string {
  return `carrier-of-${outTrackId}`;
}
