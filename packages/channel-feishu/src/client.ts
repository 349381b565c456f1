import type { Client } from "@larksuiteoapi/node-sdk";
import { type Clock, isPayload, rejectOnAbort } from "@signalbox/channel";
import { apiBase, type FeishuConfig } from "./config.ts";
import { callSignal, type Download, type FeishuHttp, FeishuHttpError, type FeishuRequest } from "./http.ts";
import { limits } from "./limits.ts";

type Im = Client["im"]["v1"];
type CardKit = Client["cardkit"]["v1"];

/**
 * The API calls of this channel, with the types of the vendor's SDK. The SDK's own client has about two thousand calls,
 * whose six megabytes of source would stay in memory for the twenty that are used here.
 */
export interface FeishuClient {
  readonly message: Pick<Im["message"], "create" | "reply" | "list" | "get" | "update" | "patch" | "delete">;
  readonly messageReaction: Pick<Im["messageReaction"], "list" | "create" | "delete">;
  readonly messageResource: { get(parts: RequestParts): Promise<Download> };
  readonly image: Pick<Im["image"], "create">;
  readonly file: Pick<Im["file"], "create">;
  readonly chat: Pick<Im["chat"], "get">;
  readonly user: Pick<Client["contact"]["v3"]["user"], "get">;
  readonly card: Pick<CardKit["card"], "create" | "settings" | "update" | "idConvert">;
  readonly cardElement: Pick<CardKit["cardElement"], "content">;
  /** For endpoints without types in the SDK. */
  get(url: string, params?: Readonly<Record<string, string>>): Promise<unknown>;
  /** Makes the next call request a new token. */
  forgetToken(): void;
}

/** Parameters of a call. Each name in `path` replaces `:name` in the URL. */
interface RequestParts {
  readonly path?: Readonly<Record<string, string>>;
  readonly params?: object;
  readonly data?: object;
}

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

const MESSAGES = "/open-apis/im/v1/messages";
const CARDS = "/open-apis/cardkit/v1/cards";

/** Creates a client that authenticates as the app. */
export function createClient(http: FeishuHttp, config: FeishuConfig, clock: Clock): FeishuClient {
  const token = tenantToken(http, config, clock);

  async function requestOf(
    method: Method,
    url: string,
    { path = {}, ...parts }: RequestParts,
  ): Promise<FeishuRequest> {
    return {
      method,
      url: apiBase(config) + url.replace(/:(\w+)/g, (_, name: string) => path[name] ?? ""),
      ...parts,
      headers: { "user-agent": "signalbox", authorization: `Bearer ${await token.get()}` },
    };
  }

  const json =
    (method: Method, url: string) =>
    async <Answer>(parts: RequestParts = {}): Promise<Answer> =>
      http.request(await requestOf(method, url, parts));

  const upload =
    (url: string) =>
    async <Answer>({ data }: RequestParts = {}): Promise<Answer> =>
      (await http.request<{ data: Answer }>(await requestOf("POST", url, { data: formOf(data) }))).data;

  return {
    message: {
      create: json("POST", MESSAGES),
      reply: json("POST", `${MESSAGES}/:message_id/reply`),
      list: json("GET", MESSAGES),
      get: json("GET", `${MESSAGES}/:message_id`),
      update: json("PUT", `${MESSAGES}/:message_id`),
      patch: json("PATCH", `${MESSAGES}/:message_id`),
      delete: json("DELETE", `${MESSAGES}/:message_id`),
    },
    messageReaction: {
      list: json("GET", `${MESSAGES}/:message_id/reactions`),
      create: json("POST", `${MESSAGES}/:message_id/reactions`),
      delete: json("DELETE", `${MESSAGES}/:message_id/reactions/:reaction_id`),
    },
    messageResource: {
      get: async (parts) =>
        http.download(await requestOf("GET", `${MESSAGES}/:message_id/resources/:file_key`, parts)),
    },
    image: { create: upload("/open-apis/im/v1/images") },
    file: { create: upload("/open-apis/im/v1/files") },
    chat: { get: json("GET", "/open-apis/im/v1/chats/:chat_id") },
    user: { get: json("GET", "/open-apis/contact/v3/users/:user_id") },
    card: {
      create: json("POST", CARDS),
      settings: json("PATCH", `${CARDS}/:card_id/settings`),
      update: json("PUT", `${CARDS}/:card_id`),
      idConvert: json("POST", `${CARDS}/id_convert`),
    },
    cardElement: { content: json("PUT", `${CARDS}/:card_id/elements/:element_id/content`) },
    get: (url, params = {}) => json("GET", url)({ params }),
    forgetToken: token.forget,
  };
}

/** Creates the form for an upload. The file part has a generic name, because the actual name is a separate field. */
function formOf(data: unknown): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(isPayload(data) ? data : {})) {
    if (value instanceof Uint8Array) form.append(name, new Blob([new Uint8Array(value)]), "upload");
    else if (value !== undefined) form.append(name, String(value));
  }
  return form;
}

interface TokenAnswer {
  readonly tenant_access_token?: string;
  /** Lifetime in seconds. */
  readonly expire?: number;
}

/** Requests the app's token with the first call, and again shortly before it expires. */
function tenantToken(
  http: FeishuHttp,
  config: FeishuConfig,
  clock: Clock,
): { get(): Promise<string>; forget(): void } {
  const { appId, appSecret } = config;
  const url = `${apiBase(config)}/open-apis/auth/v3/tenant_access_token/internal`;
  let until = 0;
  let latest: Promise<string> | undefined;

  async function ask(): Promise<string> {
    const answer = await http
      .request<TokenAnswer>({ method: "POST", url, data: { app_id: appId, app_secret: appSecret } })
      .catch((error: unknown) => Promise.reject(notSent(error)));
    if (answer.tenant_access_token === undefined)
      throw new FeishuHttpError("the response contains no token", { unsent: true });
    until = clock.now() + (answer.expire ?? 0) * 1000 - limits.tokenMarginMs;
    return answer.tenant_access_token;
  }

  return {
    get() {
      if (latest !== undefined && clock.now() < until) return unlessGivenUp(latest);
      // Concurrent calls share one request, which none of their signals must abort.
      until = Number.POSITIVE_INFINITY;
      const asked = callSignal.run(AbortSignal.timeout(limits.requestTimeoutMs), ask);
      latest = asked;
      asked.catch(() => {
        if (latest === asked) latest = undefined;
      });
      return unlessGivenUp(asked);
    },
    forget() {
      until = 0;
    },
  };
}

function unlessGivenUp(token: Promise<string>): Promise<string> {
  const signal = callSignal.getStore();
  if (signal === undefined) return token;
  return rejectOnAbort(
    token,
    signal,
    () => new FeishuHttpError("given up without a token", { unsent: true }),
  );
}

/** Marks an error of the token request. The call that needs the token was not sent. */
function notSent(error: unknown): unknown {
  if (!(error instanceof FeishuHttpError) || (error.status !== undefined && error.status < 500)) return error;
  const { message, retryAfterMs } = error;
  return new FeishuHttpError(`no token: ${message}`, { unsent: true, cause: error, retryAfterMs });
}
