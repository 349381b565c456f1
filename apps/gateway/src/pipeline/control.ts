import type { DeletedEvent, EditedEvent } from "@signalbox/channel";
import type { TrustResult } from "@signalbox/protocol";
import { isStoreError, type JsonValue } from "@signalbox/store";
import { z } from "zod";
import type { GatewayContext } from "../context.ts";
import { listStoredSchedules, type NewScheduledTask } from "../triggers/scheduled-triggers.ts";
import { stopSubAgents } from "../triggers/stop-sub-agents.ts";
import { emit } from "./pipeline.ts";

/** A request to the node that runs an agent. */
type Request =
  /** An edit or a deletion of a message, which had not ended if `wasOpen`. */
  | { readonly kind: "change"; readonly event: EditedEvent | DeletedEvent; readonly wasOpen?: boolean }
  | { readonly kind: "stop" }
  | { readonly kind: "remove" }
  | { readonly kind: "schedule_add"; readonly schedule: NewScheduledTask }
  | { readonly kind: "schedule_remove"; readonly id: string }
  | { readonly kind: "schedule_pause"; readonly id: string; readonly isPaused: boolean }
  | { readonly kind: "schedule_run"; readonly id: string; readonly name: string }
  /** Trusts a file in the workspace of an agent or shard. */
  | { readonly kind: "trust"; readonly shardId: string; readonly path: string; readonly digest?: string };

/** Gateways write the requests, so that their content is trusted. */
const requestSchema: z.ZodType<Request> = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("change"),
    event: z.custom<EditedEvent | DeletedEvent>(isObject),
    wasOpen: z.boolean().optional(),
  }),
  z.object({ kind: z.literal("stop") }),
  z.object({ kind: z.literal("remove") }),
  z.object({ kind: z.literal("schedule_add"), schedule: z.custom<NewScheduledTask>(isObject) }),
  z.object({ kind: z.literal("schedule_remove"), id: z.string() }),
  z.object({ kind: z.literal("schedule_pause"), id: z.string(), isPaused: z.boolean() }),
  z.object({ kind: z.literal("schedule_run"), id: z.string(), name: z.string() }),
  z.object({
    kind: z.literal("trust"),
    shardId: z.string(),
    path: z.string(),
    digest: z.string().optional(),
  }),
]);

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/** A session and its agent. */
export interface AgentSession {
  readonly agentId: string;
  readonly sessionKey: string;
}

/** Executes the requests of other nodes for sessions that are answered here. */
export async function executeControl(ctx: GatewayContext): Promise<void> {
  const { control } = ctx;
  await control.execute(
    ({ body, ...session }) => {
      const request = requestSchema.safeParse(body).data;
      return request === undefined ? ctx.seats.isHere(session.agentId) : isForNode(ctx, session, request);
    },
    async ({ sessionKey, body }) => execute(ctx, sessionKey, requestSchema.parse(body)),
  );
}

/**
 * Executes a request here if the session is answered here, or otherwise on the node that answers it.
 *
 * @returns the result, or undefined if the other node did not execute the request in time
 */
export async function requestAtSeat(
  ctx: GatewayContext,
  { agentId, sessionKey }: AgentSession,
  request: Request,
): Promise<JsonValue | undefined> {
  const { control } = ctx;
  if (isForNode(ctx, { agentId, sessionKey }, request)) return execute(ctx, sessionKey, request);
  const body: JsonValue = JSON.parse(JSON.stringify(request));
  const id = await control.send({ agentId, sessionKey, body });
  return (await control.wait(id))?.result;
}

/** Returns true if this node executes a request. */
function isForNode(
  { seats }: GatewayContext,
  { agentId, sessionKey }: AgentSession,
  request: Request,
): boolean {
  return request.kind === "trust" ? seats.holds(request.shardId) : seats.isHere(agentId, sessionKey);
}

/** Returns undefined if the request must be repeated later. */
async function execute(
  ctx: GatewayContext,
  sessionKey: string,
  request: Request,
): Promise<JsonValue | undefined> {
  const { scheduled } = ctx;
  switch (request.kind) {
    case "change": {
      const result = await emit(ctx, request.event, request.wasOpen);
      return result === "rejected" ? undefined : result;
    }
    case "stop":
      return stopSession(ctx, sessionKey);
    case "remove":
      return removeSession(ctx, sessionKey);
    case "schedule_add":
      return scheduled.add(request.schedule);
    case "schedule_remove":
      return scheduled.remove(request.id);
    case "schedule_pause":
      return scheduled.pause(request.id, request.isPaused);
    case "schedule_run":
      return scheduled.run(request.id, request.name);
    case "trust":
      return JSON.parse(JSON.stringify(await trustFile(ctx, request)));
  }
}

async function trustFile(
  { config, trust }: GatewayContext,
  { shardId, path, digest }: Extract<Request, { kind: "trust" }>,
): Promise<TrustResult> {
  const agent = config.current().agents.getShard(shardId);
  if (agent === undefined) return { ok: false, message: `There is no agent ${shardId}.` };
  return trust(agent, digest === undefined ? { path } : { path, digest });
}

/** Returns the session of a stored schedule. */
export async function findScheduled(
  { store }: GatewayContext,
  id: string,
): Promise<AgentSession | undefined> {
  return (await listStoredSchedules(store.kv)).find((schedule) => schedule.id === id)?.task;
}

/** Stops a session with its sub-agents. Returns true if there was anything to stop. */
async function stopSession({ lanes, subAgents }: GatewayContext, sessionKey: string): Promise<boolean> {
  const reason = new Error("stopped by the user");
  const { running, dropped } = lanes.stop(sessionKey, reason);
  const stop = (session: string, why: Error) => lanes.stop(session, why);
  await stopSubAgents({ subAgents, stop }, sessionKey, reason);
  return running || dropped > 0;
}

/** Removes a session with everything that belongs to it, unless it is busy. */
async function removeSession(ctx: GatewayContext, sessionKey: string): Promise<"removed" | "busy"> {
  if (ctx.lanes.busy(sessionKey)) return "busy";
  // Remove the session last. After a crash, a remaining session makes the removal repeatable.
  await ctx.toolbox.endCommands(sessionKey);
  await ctx.scheduled.endOf(sessionKey);
  await ctx.exchanges.remove(sessionKey);
  await ctx.userQuestions.forget(sessionKey);
  ctx.live.forget(sessionKey);
  return ctx.store.sessions.remove(sessionKey, ctx.lease).then(() => "removed" as const, isBusy);
}

/** Returns `busy` if a run has started in the session in the meantime. Rethrows other store errors. */
function isBusy(error: unknown): "busy" {
  if (isStoreError(error) && error.code === "busy") return "busy";
  throw error;
}
