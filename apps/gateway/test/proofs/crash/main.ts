// `signalbox` as it was built, with what tests set by the environment: failpoints, short times, and clocks.
import { existsSync } from "node:fs";
import type { Tuning } from "../../../dist/prepare.js";
import { failpointInstrument, failpointsOf } from "./failpoints.ts";
import { skewClock, turnAtSignal } from "./turned-clock.ts";

const { SIGNALBOX_TURN_MS: turnMs, SIGNALBOX_SKEW_MS: skewMs } = process.env;
if (turnMs !== undefined) turnAtSignal(Number(turnMs));
if (skewMs !== undefined) skewClock(Number(skewMs));
const { runSignalbox }: typeof import("../../../dist/run-signalbox.js") = await import(programFile());

await runSignalbox(process.argv, tuning(process.env));

/** The bundle, which starts sooner; a copy in which bugs are planted has none, and is run as it was compiled. */
function programFile(): string {
  const [bundled, compiled] = ["signalbox-program.js", "run-signalbox.js"].map(
    (file) => new URL(`../../../dist/${file}`, import.meta.url),
  );
  return String(bundled !== undefined && existsSync(bundled) ? bundled : compiled);
}

function tuning(env: NodeJS.ProcessEnv): Tuning {
  const { SIGNALBOX_FAILPOINT: points, SIGNALBOX_LEASE_MS: leaseMs, SIGNALBOX_DRAFT_MS: draftMs } = env;
  return {
    ...(points ? { instrument: failpointInstrument(failpointsOf(points)) } : {}),
    ...(leaseMs ? { leaseMs: Number(leaseMs) } : {}),
    ...(draftMs ? { drafts: { afterMs: Number(draftMs), everyMs: Number(draftMs) } } : {}),
  };
}
