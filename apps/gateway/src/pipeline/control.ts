import type { DeletedEvent, EditedEvent } from "@signalbox/channel";
import type { JsonValue } from "@signalbox/store";
import { z } from "zod";
import type { GatewayContext } from "../context.ts";
import { stopSubAgents } from "../triggers/stop-sub-agents.ts";
import { emit } from "./pipeline.ts";

/** An edit or a deletion of a message whose session is answered on another node. */
const changeSchema = z.object({
  kind: z.literal("change"),
  event: z.custom<EditedEvent | DeletedEvent>(
    (event) => typeof event === "object" && event !== null && "type" in event && "messageId" in event,
  ),
});
const stopSchema = z.object({ kind: z.literal("stop") });
const requestSchema = z.union([changeSchema, stopSchema]);

/** Executes the requests of other nodes for sessions that are answered here. */
export async function executeControl(ctx: GatewayContext): Promise<void> {
  const { control, seats } = ctx;
  await control.execute(
    ({ agentId, sessionKey }) => seats.isHere(agentId, sessionKey),
    async ({ sessionKey, body }): Promise<JsonValue> => {
      const { data: request } = requestSchema.safeParse(body);
      if (request === undefined) throw new TypeError("the request is of an unknown kind");
      if (request.kind === "stop") return stopSession(ctx, sessionKey);
      if ((await emit(ctx, request.event)) === "rejected") throw new Error("the change was not accepted");
      return true;
    },
  );
}

/** Stops a session with its sub-agents. Returns true if there was anything to stop. */
async function stopSession(ctx: GatewayContext, sessionKey: string): Promise<boolean> {
  const { lanes, subAgents } = ctx;
  const reason = new Error("stopped by the user");
  const { running, dropped } = lanes.stop(sessionKey, reason);
  const stop = (session: string, why: Error) => lanes.stop(session, why);
  await stopSubAgents({ subAgents, stop }, sessionKey, reason);
  return running || dropped > 0;
}

/** Stops a session on the node that answers it. Returns true if there was anything to stop. */
export async function stopAnywhere(
  ctx: GatewayContext,
  agentId: string,
  sessionKey: string,
): Promise<boolean> {
  if (ctx.seats.isHere(agentId, sessionKey)) return stopSession(ctx, sessionKey);
  const id = await ctx.control.send({ agentId, sessionKey, body: { kind: "stop" } });
  return (await ctx.control.wait(id))?.result === true;
}
