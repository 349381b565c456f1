import { parseJson } from "../http.ts";
import { isRaw, type Raw } from "../raw.ts";
import { carrierOf, type Places } from "./messages.ts";
import { type ApiReply, ok, refusals, refuse } from "./reply.ts";
import type { CardButton, Destination, DingTalkMessage, Sent } from "./sent.ts";

/** The field of DingTalk's public card template that is streamed, and the one for fixed text. */
const STREAMED = "msgContent";
const FIXED = "staticMsgContent";

interface CardState {
  readonly callbackType: unknown;
  isStreamClosed: boolean;
}

/** Response to a second card under the same `outTrackId`. The real one is unknown. */
export type RepeatedCard = "refuse" | "accept" | "deliver";

/** Cards with DingTalk's public AI template. Sources: the models of `@alicloud/dingtalk`, and DingTalk's connector. */
export class Cards {
  readonly #places: Places;
  readonly #sent: Sent;
  readonly #repeated: RepeatedCard;
  readonly #states = new Map<string, CardState>();

  constructor(places: Places, sent: Sent, repeated: RepeatedCard) {
    this.#places = places;
    this.#sent = sent;
    this.#repeated = repeated;
  }

  create(body: Raw): ApiReply {
    const outTrackId = String(body["outTrackId"]);
    const parameters = readParameters(body);
    if (parameters === undefined) return refuse(400, "MissingStringValue", "cardData.cardParamMap");
    const to = this.#readDestination(body);
    if (to === undefined) return refuse(400, "param.openSpaceIdInvalid");
    const isKnown =
      "userId" in to ? this.#places.users.has(to.userId) : this.#places.groups.has(to.conversationId);
    const result = (success: boolean) =>
      ok({
        success: true,
        result: {
          outTrackId,
          deliverResults: [
            {
              spaceType: "userId" in to ? "IM_ROBOT" : "IM_GROUP",
              spaceId: "userId" in to ? to.userId : to.conversationId,
              success,
              ...(success ? { carrierId: carrierOf(outTrackId) } : { errorMsg: "spaceId is invalid" }),
            },
          ],
        },
      });
    if (!isKnown) return result(false);
    if (this.#states.has(outTrackId) && this.#repeated === "refuse")
      return refuse(400, "param.outTrackIdRepeat", "outTrackId 重复");
    if (this.#states.has(outTrackId) && this.#repeated === "accept") return result(true);
    this.#states.set(outTrackId, { callbackType: body["callbackType"], isStreamClosed: false });
    const text = textOf(parameters);
    this.#sent.push({
      id: outTrackId,
      to,
      kind: "card",
      text,
      shown: [text],
      isFinished: parameters["flowStatus"] === "3",
      buttons: readButtons(parameters),
      isRecalled: false,
    });
    return result(true);
  }

  stream(body: Raw): ApiReply {
    const outTrackId = String(body["outTrackId"]);
    const state = this.#states.get(outTrackId);
    if (state === undefined) return refusals.unknownCard;
    // DingTalk responds with an internal error if the card was not created for streaming.
    if (state.callbackType !== "STREAM") return refuse(500, "unknownError");
    if (body["key"] !== STREAMED) return refuse(400, "param.keyInvalid");
    if (state.isStreamClosed) return refuse(400, "param.streamFinished", "流式更新已结束");
    if (body["isFinalize"] === true) state.isStreamClosed = true;
    this.#change(outTrackId, String(body["content"]), {});
    return ok({ success: true, result: true });
  }

  update(body: Raw): ApiReply {
    const outTrackId = String(body["outTrackId"]);
    if (!this.#states.has(outTrackId)) return refusals.unknownCard;
    const parameters = readParameters(body);
    if (parameters === undefined) return refuse(400, "MissingStringValue", "cardData.cardParamMap");
    this.#change(outTrackId, textOf(parameters), {
      isFinished: parameters["flowStatus"] === "3",
      buttons: readButtons(parameters),
    });
    return ok({ success: true, result: true });
  }

  #change(outTrackId: string, text: string, more: Partial<DingTalkMessage>): void {
    for (const [index, message] of this.#sent.entries()) {
      if (message.id !== outTrackId) continue;
      const shown = message.text === text ? message.shown : [...message.shown, text];
      this.#sent[index] = { ...message, ...more, text, shown };
    }
  }

  #readDestination(body: Raw): Destination | undefined {
    const [, space, id = ""] =
      /^dtv1\.card\/\/(IM_GROUP|IM_ROBOT)\.(.+)$/.exec(String(body["openSpaceId"])) ?? [];
    const model = body[space === "IM_GROUP" ? "imGroupOpenDeliverModel" : "imRobotOpenDeliverModel"];
    if (!isRaw(model) || model["robotCode"] !== this.#places.robotCode) return undefined;
    if (space === "IM_GROUP") return { conversationId: id };
    return model["spaceType"] === "IM_ROBOT" && body["userIdType"] === 1 ? { userId: id } : undefined;
  }
}

function readParameters({ cardData }: Raw): Raw | undefined {
  const parameters = isRaw(cardData) ? cardData["cardParamMap"] : undefined;
  if (!isRaw(parameters)) return undefined;
  return Object.values(parameters).every((value) => typeof value === "string") ? parameters : undefined;
}

/** The text in the fields that the card's order lists. */
function textOf(parameters: Raw): string {
  const layout = parseJson(String(parameters["sys_full_json_obj"]));
  const order = isRaw(layout) && Array.isArray(layout["order"]) ? layout["order"] : [];
  return [STREAMED, FIXED]
    .filter((field) => order.includes(field))
    .map((field) => String(parameters[field] ?? ""))
    .join("");
}

function readButtons(parameters: Raw): readonly CardButton[] {
  const layout = parseJson(String(parameters["sys_full_json_obj"]));
  const isShown = isRaw(layout) && Array.isArray(layout["order"]) && layout["order"].includes("msgButtons");
  const buttons = isShown && Array.isArray(layout["msgButtons"]) ? layout["msgButtons"] : [];
  return buttons.filter(isRaw).map(({ id, text }) => ({ id: String(id), text: String(text) }));
}
