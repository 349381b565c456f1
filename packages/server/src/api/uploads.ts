import { UPLOAD_PIECE_BYTES, UploadId, type UploadState } from "@signalbox/protocol";
import type { Context } from "hono";
import type { Env } from "../guard.ts";
import type { GatewayService } from "../service.ts";
import { apiErrors } from "./errors.ts";

/** `PUT /api/uploads/:id?at=…`: one piece of a file, so that no request takes long and a lost one is sent again. */
export async function takeUpload(context: Context<Env>, service: GatewayService): Promise<Response> {
  const id = UploadId.safeParse(context.req.param("id"));
  const at = Number(context.req.query("at"));
  if (!id.success || !Number.isSafeInteger(at) || at < 0)
    return apiErrors.badQuery(context, "Send a piece to /api/uploads/<an id of yours>?at=<bytes before it>.");
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
