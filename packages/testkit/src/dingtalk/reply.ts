import type { ServerResponse } from "node:http";

/** A response of the API. */
export interface ApiReply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export function ok(body: unknown): ApiReply {
  return { status: 200, body };
}

/** An error of api.dingtalk.com. */
export function refuse(status: number, code: string, message: string = code, more: object = {}): ApiReply {
  return { status, body: { requestid: "6D0B-7C5A", code, message, ...more } };
}

/** An error of oapi.dingtalk.com, which responds with HTTP 200. */
export function refuseOld(errcode: number, errmsg: string): ApiReply {
  return ok({ errcode, errmsg });
}

interface Refusals {
  readonly credentials: ApiReply;
  readonly clientSecret: ApiReply;
  readonly token: ApiReply;
  readonly rate: ApiReply;
  readonly unknownCard: ApiReply;
  readonly scope: (name: string) => ApiReply;
}

export const refusals: Refusals = {
  credentials: refuse(401, "authFailed", "鉴权失败"),
  clientSecret: refuse(400, "invalidClientIdOrSecret", "无效的clientId或者clientSecret"),
  token: refuse(400, "InvalidAuthentication", "不合法的access_token"),
  rate: refuse(403, "Forbidden.AccessDenied.QpsLimitForAppkeyAndApi", "请求被流控，请稍后重试"),
  unknownCard: refuse(400, "param.cardNotExist", "卡片实例不存在"),
  scope: (name) =>
    refuse(403, "Forbidden.AccessDenied.AccessTokenPermissionDenied", `应用尚未开通所需的权限：[${name}]`, {
      accessdenieddetail: { requiredScopes: [name] },
    }),
};

export function write(response: ServerResponse, { status, body, headers }: ApiReply): void {
  response.writeHead(status, { "content-type": "application/json;charset=utf-8", ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}
