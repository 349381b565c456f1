import { randomUUID } from "node:crypto";
import { formOf, parseJson, type SeenRequest } from "../http.ts";
import { isRaw, type Raw } from "../raw.ts";
import { Cards, type RepeatedCard } from "./cards.ts";
import { Messages, type Places } from "./messages.ts";
import { type ApiReply, ok, refusals, refuse, refuseOld } from "./reply.ts";
import type { Sent } from "./sent.ts";
import { findWrongField } from "./shapes.ts";
import type { StreamMode } from "./stream.ts";
import { Uploads } from "./uploads.ts";

export interface ApiOptions extends Places {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Scopes that the app lacks. */
  readonly missingScopes: readonly string[];
  /** True if more than 20 calls of an API in a second are refused. */
  readonly rateLimit: boolean;
  readonly repeatedCard: RepeatedCard;
  readonly now: () => number;
}

type Call = (body: Raw) => ApiReply;

const TOKEN_SECONDS = 7_200;
/** Source: DingTalk's page on rate limits, for organizations with the standard edition. */
const CALLS_PER_SECOND = 20;

/** The scope that each call needs. */
const scopes: readonly (readonly [RegExp, string])[] = [
  [/\/v1\.0\/robot\//, "qyapi_robot_sendmsg"],
  [/\/v1\.0\/card\/streaming$/, "Card.Streaming.Write"],
  [/\/v1\.0\/card\/instances/, "Card.Instance.Write"],
];

/** The APIs of api.dingtalk.com and oapi.dingtalk.com that a chat bot needs. */
export class Api {
  readonly sent: Sent = [];
  readonly uploads: Uploads = new Uploads();
  /** Reactions of the bot: names by message id. */
  readonly reactions: Map<string, Set<string>> = new Map();
  /** The URLs of files by download code. */
  readonly downloads: Map<string, string> = new Map();
  isRevoked = false;
  readonly #options: ApiOptions;
  readonly #stream: StreamMode;
  readonly #tokens = new Map<string, number>();
  readonly #calls: { readonly path: string; readonly at: number }[] = [];
  readonly #routes: Readonly<Record<string, Call>>;

  constructor(options: ApiOptions, stream: StreamMode) {
    this.#options = options;
    this.#stream = stream;
    const messages = new Messages(options, this.sent, this.uploads);
    const cards = new Cards(options, this.sent, options.repeatedCard);
    this.#routes = {
      "POST /v1.0/robot/oToMessages/batchSend": (body) => messages.sendToPeople(body),
      "POST /v1.0/robot/groupMessages/send": (body) => messages.sendToGroup(body),
      "POST /v1.0/robot/otoMessages/batchRecall": (body) => messages.recall(body, (to) => "userId" in to),
      "POST /v1.0/robot/groupMessages/recall": (body) =>
        messages.recall(
          body,
          (to) => "conversationId" in to && to.conversationId === body["openConversationId"],
        ),
      "POST /v1.0/robot/messageFiles/download": (body) => this.#download(body),
      "POST /v1.0/robot/emotion/reply": (body) => this.#react(body, true),
      "POST /v1.0/robot/emotion/recall": (body) => this.#react(body, false),
      "POST /v1.0/card/instances/createAndDeliver": (body) => cards.create(body),
      "PUT /v1.0/card/streaming": (body) => cards.stream(body),
      "PUT /v1.0/card/instances": (body) => cards.update(body),
    };
  }

  /** Makes all tokens invalid, as after two hours. */
  expireTokens(): void {
    this.#tokens.clear();
  }

  async answer(seen: SeenRequest): Promise<ApiReply> {
    const { pathname, searchParams } = new URL(seen.path, "http://fake");
    const call = `${seen.method} ${pathname}`;
    const parsed = parseJson(seen.text);
    const body = isRaw(parsed) ? parsed : {};
    if (call === "POST /v1.0/oauth2/accessToken") return this.#createToken(call, body);
    if (call === "POST /v1.0/gateway/connections/open") return this.#openConnection(body);
    if (call === "POST /media/upload") {
      if (!this.#isValid(searchParams.get("access_token"))) return refuseOld(40014, "不合法的access_token");
      return this.uploads.add(searchParams.get("type") ?? "", await formOf(seen));
    }
    const run = this.#routes[call];
    if (run === undefined) return refuse(404, "InvalidAction.NotFound", "Specified api is not found.");
    const token = seen.headers["x-acs-dingtalk-access-token"];
    if (typeof token !== "string" || !this.#isValid(token)) return refusals.token;
    const scope = scopes.find(([paths]) => paths.test(pathname))?.[1] ?? "";
    if (this.#options.missingScopes.includes(scope)) return refusals.scope(scope);
    if (this.#options.rateLimit && this.#isTooOften(pathname)) return refusals.rate;
    const wrong = findWrongField(call, body);
    if (wrong !== undefined)
      return refuse(400, "param.error", `the field ${wrong} is missing, unknown or wrong`);
    return run(body);
  }

  #createToken(call: string, body: Raw): ApiReply {
    const { clientId, clientSecret, now } = this.#options;
    const wrong = findWrongField(call, body);
    if (wrong !== undefined)
      return refuse(400, "param.error", `the field ${wrong} is missing, unknown or wrong`);
    if (this.isRevoked || body["appKey"] !== clientId || body["appSecret"] !== clientSecret)
      return refusals.clientSecret;
    const accessToken = randomUUID().replaceAll("-", "");
    this.#tokens.set(accessToken, now() + TOKEN_SECONDS * 1_000);
    return ok({ accessToken, expireIn: TOKEN_SECONDS });
  }

  #openConnection(body: Raw): ApiReply {
    const { clientId, clientSecret } = this.#options;
    if (this.isRevoked || body["clientId"] !== clientId || body["clientSecret"] !== clientSecret)
      return refusals.credentials;
    const { subscriptions } = body;
    const isValid =
      Array.isArray(subscriptions) &&
      subscriptions.length > 0 &&
      subscriptions.every(
        (one) =>
          isRaw(one) && /^(?:EVENT|CALLBACK)$/.test(String(one["type"])) && typeof one["topic"] === "string",
      );
    return isValid ? ok(this.#stream.endpoint()) : refuse(400, "subscriptionsInvalid", "订阅参数错误");
  }

  #isValid(token: string | null): boolean {
    return !this.isRevoked && (this.#tokens.get(token ?? "") ?? 0) > this.#options.now();
  }

  #isTooOften(path: string): boolean {
    const now = this.#options.now();
    const recent = this.#calls.filter((call) => call.path === path && call.at > now - 1_000);
    this.#calls.push({ path, at: now });
    return recent.length >= CALLS_PER_SECOND;
  }

  #download({ robotCode, downloadCode }: Raw): ApiReply {
    if (robotCode !== this.#options.robotCode) return refuse(400, "invalidParameter.robotCode.auth");
    const downloadUrl = this.downloads.get(String(downloadCode));
    return downloadUrl === undefined
      ? refuse(400, "invalidParameter.downloadCode.notExist")
      : ok({ downloadUrl });
  }

  #react(body: Raw, isOn: boolean): ApiReply {
    const { robotCode, openMsgId, openConversationId, emotionType, emotionName, textEmotion } = body;
    const isComplete = [openMsgId, openConversationId, emotionName].every(
      (one) => typeof one === "string" && one !== "",
    );
    if (!isComplete || robotCode !== this.#options.robotCode || emotionType !== 2 || !isRaw(textEmotion))
      return refuse(400, "invalidParameter.param.invalid");
    const names = this.reactions.get(String(openMsgId)) ?? new Set();
    this.reactions.set(String(openMsgId), names);
    if (!isOn && !names.has(String(emotionName))) return refuse(400, "emotion.notExist");
    if (isOn) names.add(String(emotionName));
    else names.delete(String(emotionName));
    return ok({ success: true });
  }
}
