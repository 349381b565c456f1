import type { Context } from "hono";
import { apiErrors } from "./error-replies.ts";
import type { Env } from "./middleware.ts";
import type { GatewayService } from "./service.ts";

/** `/channels/<channel>/<account>/…`: passes a platform's request to its channel, which verifies the signature. */
export async function forwardWebhook(context: Context<Env>, service: GatewayService): Promise<Response> {
  if (!service.ready())
    return context.json({ error: { code: "stopping", message: "The gateway is stopping." } }, 503);
  const channel = context.req.param("channel") ?? "";
  const account = context.req.param("account") ?? "";
  const { raw } = context.req;
  // `limitBody` has checked the length, so the body can be read in one piece.
  const read = async (): Promise<Uint8Array> => new Uint8Array(await raw.arrayBuffer());
  const response = await service.webhook(channel, account, raw, read);
  return response ?? apiErrors.noAccount(context, channel, account);
}
