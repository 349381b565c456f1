// `signalbox start` as it was built, with what tests set by the environment: failpoints, and short times.
import { enableCompileCache } from "node:module";
import { parseArgs } from "node:util";
import type { Tuning } from "../../dist/cli/start.js";
import { failpointInstrument, failpointsOf } from "./failpoints.ts";

enableCompileCache();
const { guarded } = await import("../../dist/cli/output.js");
const { start } = await import("../../dist/cli/start.js");

const { values } = parseArgs({ allowPositionals: true, options: { home: { type: "string" } } });
const { home } = values;
if (home === undefined) throw new Error("--home is missing");
await guarded(false, () => start({ home }, tuning(process.env)));

function tuning(env: NodeJS.ProcessEnv): Tuning {
  const { SIGNALBOX_FAILPOINT: points, SIGNALBOX_LEASE_MS: leaseMs, SIGNALBOX_DRAFT_MS: draftMs } = env;
  return {
    ...(points ? { instrument: failpointInstrument(failpointsOf(points)) } : {}),
    ...(leaseMs ? { leaseMs: Number(leaseMs) } : {}),
    ...(draftMs ? { drafts: { afterMs: Number(draftMs), everyMs: Number(draftMs) } } : {}),
  };
}
