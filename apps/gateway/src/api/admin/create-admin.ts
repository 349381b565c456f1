import { type AdminService, ApiError } from "@signalbox/server";
import type { GatewayContext } from "../../context.ts";
import { createSeatedSchedules } from "../seated-schedules.ts";
import { createAgentAdmin } from "./agents.ts";
import { type ConfigurationReload, createConfigurationAdmin } from "./configuration.ts";
import { createHealthAdmin } from "./health.ts";
import { createMcpAdmin } from "./mcp.ts";
import { createMemoryAdmin } from "./memory.ts";
import { createModelAdmin } from "./models.ts";
import { createOutboxAdmin } from "./outbox.ts";
import { createRecordAdmin } from "./records.ts";
import { createSetupAdmin } from "./setup.ts";
import { createSkillAdmin } from "./skills.ts";
import { createTokenAdmin } from "./tokens.ts";
import { createFileAdmin } from "./workspace-files.ts";

/** Creates the part of the service that administers the gateway. Each change is recorded in the audit log. */
export function createAdmin(ctx: GatewayContext, reload: ConfigurationReload): AdminService {
  const { audit } = ctx;
  const schedules = createSeatedSchedules(ctx);
  const configuration = createConfigurationAdmin(ctx, reload);
  return {
    ...configuration,
    ...createSetupAdmin(ctx, configuration),
    ...createAgentAdmin(ctx),
    ...createFileAdmin(ctx),
    ...createModelAdmin(ctx),
    ...createMemoryAdmin(ctx),
    ...createSkillAdmin(ctx),
    ...createMcpAdmin(ctx),
    ...createOutboxAdmin(ctx),
    ...createRecordAdmin(ctx),
    ...createTokenAdmin(ctx),
    ...createHealthAdmin(ctx, reload.state),
    async pauseSchedule(id, isPaused, actor) {
      if (!(await schedules.pause(id, isPaused)))
        throw new ApiError("not_found", `There is no schedule ${id}.`);
      audit.operation({ action: isPaused ? "paused" : "continued", subject: `schedule: ${id}` }, actor);
    },
    recordOperation: (action, subject, actor) => audit.operation({ action, subject }, actor),
  };
}
