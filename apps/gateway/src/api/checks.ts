import { isChannelError, reasonOf } from "@signalbox/channel";
import type { RemoteCheck } from "@signalbox/protocol";
import type { Agent } from "../configure/agents.ts";
import type { AgentModel } from "../configure/models.ts";
import { isUnreached } from "../configure/try-account.ts";
import type { GatewayContext } from "../context.ts";
import { formatWindow } from "../messages/reply-windows.ts";

/** Time limit for checking one platform or vendor, in milliseconds. */
const TIMEOUT_MS = 15_000;
const CHECK_TOKENS = 16;

/** Checks accounts with their platforms. Calls each agent's model once if `withModels` is true. */
export async function runChecks(ctx: GatewayContext, withModels: boolean): Promise<RemoteCheck[]> {
  const ofAccounts = ctx.accounts.list().map(({ channel, account }) => checkAccount(ctx, channel, account));
  const ofAgents = withModels ? ctx.config.current().agents.all.map((agent) => checkModel(ctx, agent)) : [];
  const checks = (await Promise.all([...ofAccounts, ...ofAgents, checkSchedules(ctx)])).flat();
  return checks.map((check) => ({ ...check, detail: ctx.redact(check.detail) }));
}

async function checkAccount(
  { accounts }: GatewayContext,
  channel: string,
  account: string,
): Promise<readonly RemoteCheck[]> {
  const running = accounts.get(channel, account)?.running;
  if (running?.checks === undefined) return [];
  const part = `channel ${channel}/${account}`;
  try {
    const checks = await running.checks(AbortSignal.timeout(TIMEOUT_MS));
    return checks.map(({ about, ok, detail, remedy }) => ({
      part: `${part} ${about}`,
      ok,
      detail,
      remedy,
    }));
  } catch (error) {
    return [{ part, ok: false, severity: "error", ...describeFailedChecks(error, channel, account) }];
  }
}

/** Distinguishes a platform that refuses the account from one that cannot be reached. */
function describeFailedChecks(
  error: unknown,
  channel: string,
  account: string,
): Pick<RemoteCheck, "detail" | "remedy"> {
  const detail = reasonOf(error);
  if (isChannelError(error) && !isUnreached(error)) {
    const path = `channels.${channel}.accounts.${account}`;
    const names = error.settings?.map((name) => `${path}.${name}`).join(" or ") ?? path;
    return {
      detail: `the platform refuses the account: ${detail}`,
      remedy: `Correct ${names}, for instance with \`signalbox init\`.`,
    };
  }
  return {
    detail: `the platform could not be reached: ${detail}`,
    remedy: "Check whether the platform can be reached from this machine.",
  };
}

/** Reports schedules that their platform will reject unless a person writes before they are due. */
async function checkSchedules({ scheduled, replyWindows }: GatewayContext): Promise<readonly RemoteCheck[]> {
  const checks = scheduled.list().map(async ({ id, nextAt, task }) => {
    const closed = await replyWindows.findClosed(task.place, nextAt);
    if (closed === undefined) return [];
    const detail = `will not run at ${new Date(nextAt).toISOString()} unless the person writes within ${formatWindow(closed.windowMs)} before: ${closed.platform} accepts only replies`;
    const remedy = "Schedule it on another channel, or ask the person to write before.";
    return [{ part: `schedule ${id}`, ok: false, detail, remedy }];
  });
  return (await Promise.all(checks)).flat();
}

async function checkModel({ config, now }: GatewayContext, agent: Agent): Promise<readonly RemoteCheck[]> {
  const chosen = config.current().models.of(agent);
  if (chosen === undefined || chosen.demo) return [];
  const { model } = chosen;
  const part = `model ${model.provider}/${model.id} of ${agent.id}`;
  try {
    await askOnce(chosen, now());
    return [{ part, ok: true, detail: "it answers" }];
  } catch (error) {
    const remedy = `Fix its key or address under models.providers.${model.provider}, or choose another model.`;
    return [{ part, ok: false, severity: "error", detail: `it does not answer: ${reasonOf(error)}`, remedy }];
  }
}

/**
 * Calls a model once.
 *
 * @throws Error with the vendor's message, even if a fallback would answer, or if the vendor does not respond in time
 */
export async function askOnce({ model, stream }: AgentModel, timestamp: number): Promise<void> {
  let said = `no response within ${TIMEOUT_MS / 1000} s`;
  const events = stream(
    model,
    {
      system: { stable: "" },
      messages: [{ role: "user", content: "Reply with the word OK.", timestamp }],
      tools: [],
    },
    { signal: AbortSignal.timeout(TIMEOUT_MS), maxOutputTokens: CHECK_TOKENS, cache: "none" },
  );
  for await (const event of events) {
    if (event.type === "finish") return;
    if (event.type === "error") throw new Error(event.error.code === "aborted" ? said : event.error.message);
    if (event.type !== "attempt") continue;
    said = event.failure.message;
    if (event.next.kind === "model") throw new Error(said);
  }
}
