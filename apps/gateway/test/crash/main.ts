// `signalbox` as it was built, with what tests set by the environment: failpoints, and short times.
import { enableCompileCache } from "node:module";
import type { Tuning } from "../../dist/program/prepare.js";
import { failpointInstrument, failpointsOf } from "./failpoints.ts";

enableCompileCache();
const { runProgram } = await import("@signalbox/cli");
const { gatewayHost } = await import("../../dist/program/host.js");

await runProgram(process.argv, gatewayHost(tuning(process.env)));

function tuning(env: NodeJS.ProcessEnv): Tuning {
  const { SIGNALBOX_FAILPOINT: points, SIGNALBOX_LEASE_MS: leaseMs, SIGNALBOX_DRAFT_MS: draftMs } = env;
  return {
    ...(points ? { instrument: failpointInstrument(failpointsOf(points)) } : {}),
    ...(leaseMs ? { leaseMs: Number(leaseMs) } : {}),
    ...(draftMs ? { drafts: { afterMs: Number(draftMs), everyMs: Number(draftMs) } } : {}),
  };
}
