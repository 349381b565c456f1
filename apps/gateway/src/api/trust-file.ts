import type { TrustRequest, TrustResult } from "@signalbox/protocol";
import { z } from "zod";
import type { GatewayContext } from "../context.ts";
import { requestAtSeat } from "../pipeline/control.ts";

/** The node that runs the agent wrote the result, so that its content is trusted. */
const resultSchema = z.custom<TrustResult>((value) => typeof value === "object" && value !== null);

/** Trusts a file where its agent runs, because only that node knows the labels of the files. */
export async function trustFile(
  ctx: GatewayContext,
  { agent: named, path, digest }: TrustRequest,
  owner: string,
): Promise<TrustResult> {
  const { agents } = ctx.config.current();
  const shardId = named ?? agents.defaultId;
  const agent = agents.getShard(shardId);
  if (agent === undefined) {
    const split = agents.get(shardId);
    return split === undefined
      ? refuse(`There is no agent ${shardId}.`)
      : refuse(`The agent ${shardId} is split: name the shard, for example ${agents.at(shardId)?.shardId}.`);
  }
  const request = { kind: "trust", shardId, path, ...(digest === undefined ? {} : { digest }) } as const;
  const answer = await requestAtSeat(ctx, { agentId: agent.id, sessionKey: "" }, request);
  const result = resultSchema.safeParse(answer).data;
  if (result === undefined)
    return refuse(`The gateway that runs the agent ${shardId} did not answer in time. Try again.`);
  if (result.ok) ctx.audit.trusted(agent.id, result.path, owner);
  return result;
}

function refuse(message: string): TrustResult {
  return { ok: false, message };
}
