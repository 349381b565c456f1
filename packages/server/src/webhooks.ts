import type { Context } from "hono";
import { apiErrors } from "./api/errors.ts";
import type { Env } from "./guard.ts";
import type { GatewayService } from "./service.ts";

/** `/channels/<channel>/<account>/…`: a platform's request, whose signature its channel checks. */
export async function webhook(context: Context<Env>, service: GatewayService): Promise<Response> {
  if (!service.ready())
    return context.json({ error: { code: "stopping", message: "The gateway is stopping." } }, 503);
  const channel = context.req.param("channel") ?? "";
  const account = context.req.param("account") ?? "";
  const { raw } = context.req;
  // Its length is held to the limit, so it need not be counted as a stream.
  const read = async (): Promise<Uint8Array> => new Uint8Array(await raw.arrayBuffer());
  const response = await service.webhook(channel, account, raw, read);
  return response ?? apiErrors.noAccount(context, channel, account);
}
