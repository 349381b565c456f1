import { UPLOAD_PIECE_BYTES, UploadId, type UploadState } from "@signalbox/protocol";
import type { Context } from "hono";
import { apiErrors } from "../error-replies.ts";
import type { Env } from "../middleware.ts";
import type { GatewayService } from "../service.ts";

/** `PUT /api/uploads/:id?at=…`: receives one piece of a file. Clients can repeat a piece after a lost response. */
export async function receiveUpload(context: Context<Env>, service: GatewayService): Promise<Response> {
  const id = UploadId.safeParse(context.req.param("id"));
  const at = Number(context.req.query("at"));
  if (!id.success || !Number.isSafeInteger(at) || at < 0)
    return apiErrors.badQuery(
      context,
      "Send a piece to /api/uploads/<an id you create>?at=<offset in bytes>.",
    );
  const bytes = new Uint8Array(await context.req.arrayBuffer());
  if (bytes.byteLength > UPLOAD_PIECE_BYTES) return apiErrors.tooLarge(context, UPLOAD_PIECE_BYTES);
  const { principal } = context.get("access");
  const added = await service.upload({ client: principal, id: id.data, at, bytes });
  const state: UploadState = { bytes: added.bytes };
  switch (added.kind) {
    case "added":
      return context.json(state);
    case "out_of_order":
      return context.json(state, 409);
    case "too_large":
      return apiErrors.fileTooLarge(context);
    case "full":
      return apiErrors.uploadsFull(context);
  }
}
