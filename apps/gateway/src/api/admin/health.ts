import { reasonOf } from "@signalbox/channel";
import type { ConfigurationState, HealthFinding } from "@signalbox/protocol";
import type { AdminService } from "@signalbox/server";
import type { GatewayContext } from "../../context.ts";
import { listAgents } from "../list-agents.ts";
import { toChinese } from "./health-chinese.ts";

type HealthAdmin = Pick<AdminService, "health">;

/** Reports what `signalbox doctor` finds, and the state of the running gateway. */
export function createHealthAdmin(ctx: GatewayContext, state: () => ConfigurationState): HealthAdmin {
  const { options, accounts, config, redact, startedAt } = ctx;
  return {
    async health(language) {
      const findings: HealthFinding[] = [
        { part: "gateway", state: "ok", detail: `running since ${new Date(startedAt).toISOString()}` },
        ...describeConfiguration(state()),
        ...listAgents(config).map(describeAgent),
        ...accounts.list().map(describeAccount),
        ...(await checkHome(options.checkHome)),
      ];
      const shown = language === "zh" ? findings.map(toChinese) : findings;
      return { findings: shown.map((finding) => ({ ...finding, detail: redact(finding.detail) })) };
    },
  };
}

async function checkHome(
  check: (() => Promise<readonly HealthFinding[]>) | undefined,
): Promise<readonly HealthFinding[]> {
  try {
    return check === undefined ? [] : await check();
  } catch (error) {
    return [{ part: "home", state: "error", detail: `it could not be checked: ${reasonOf(error)}` }];
  }
}

function describeConfiguration({ forStart, kept }: ConfigurationState): HealthFinding[] {
  const part = "running configuration";
  const restart: HealthFinding = {
    part,
    state: "warning",
    detail: `${forStart.join(", ")} changed since the gateway started, and takes effect only after a restart`,
    remedy: "Restart the gateway.",
  };
  const correct: HealthFinding = {
    part,
    state: "warning",
    detail: `the previous values stay in effect, because the last change has errors: ${kept.join(", ")}`,
    remedy: "Fix the errors in the configuration. The gateway applies it at once.",
  };
  return [...(forStart.length > 0 ? [restart] : []), ...(kept.length > 0 ? [correct] : [])];
}

function describeAgent({
  id,
  model,
  demo,
}: {
  readonly id: string;
  readonly model: string;
  readonly demo: boolean;
}) {
  const part = `agent ${id}`;
  const finding: HealthFinding = demo
    ? { part, state: "warning", detail: "uses the offline demo model", remedy: "Set up a model." }
    : { part, state: "ok", detail: `uses ${model}` };
  return finding;
}

function describeAccount({
  channel,
  account,
  state,
  reason,
}: {
  readonly channel: string;
  readonly account: string;
  readonly state: string;
  readonly reason?: string;
}): HealthFinding {
  const part = `channel ${channel}/${account}`;
  const detail = reason === undefined ? state : `${state}: ${reason}`;
  if (state === "ready") return { part, state: "ok", detail };
  const remedy = `Check channels.${channel}.accounts.${account} and the log.`;
  return { part, state: "warning", detail, remedy };
}
