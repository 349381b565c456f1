import type { ServerResponse } from "node:http";

/** The response of a method. Source: "Making requests" of the Bot API's reference. */
export type ApiReply =
  | { readonly ok: true; readonly result: unknown }
  | {
      readonly ok: false;
      readonly error_code: number;
      readonly description: string;
      readonly parameters?: { readonly retry_after?: number; readonly migrate_to_chat_id?: number };
    };

export function ok(result: unknown): ApiReply {
  return { ok: true, result };
}

export function refuse(code: number, description: string): ApiReply {
  return { ok: false, error_code: code, description };
}

/** Creates the error `Bad Request: <what>`. */
export function badRequest(what: string): ApiReply {
  return refuse(400, `Bad Request: ${what}`);
}

/** The group became a supergroup. Source: `ResponseParameters`. */
export function chatMigrated(chatId: number): ApiReply {
  const description = "Bad Request: group chat was upgraded to a supergroup chat";
  return { ok: false, error_code: 400, description, parameters: { migrate_to_chat_id: chatId } };
}

export function tooMany(retryAfter: number | undefined): ApiReply {
  const description = `Too Many Requests: retry after ${retryAfter ?? "a while"}`;
  return {
    ok: false,
    error_code: 429,
    description,
    parameters: retryAfter === undefined ? undefined : { retry_after: retryAfter },
  };
}

export function write(response: ServerResponse, reply: ApiReply): void {
  response.writeHead(reply.ok ? 200 : reply.error_code, { "content-type": "application/json" });
  response.end(JSON.stringify(reply));
}
