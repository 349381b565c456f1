import type { Config } from "@signalbox/config";
import { type Sandbox, startSandbox } from "@signalbox/tools";

/** Where commands of agents run, proven; rejects where they cannot. */
export function execSandbox(config: Config): Promise<Sandbox> {
  const { sandbox, timeoutMs } = config.tools.exec;
  return startSandbox({ setting: sandbox === "bubblewrap" ? "default" : sandbox, limits: { timeoutMs } });
}
