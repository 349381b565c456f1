import type { Config } from "@signalbox/config";
import { type Sandbox, startSandbox } from "@signalbox/tools";

/** Proves where commands of agents run. */
export type StartExecSandbox = (config: Pick<Config, "tools">) => Promise<Sandbox>;

/** Where commands of agents run, proven once for each setting. */
export function createExecSandbox(
  config: () => Pick<Config, "tools">,
  start: StartExecSandbox = execSandbox,
): () => Promise<Sandbox> {
  const proven = new Map<string, Promise<Sandbox>>();
  return () => {
    const { sandbox, timeoutMs } = config().tools.exec;
    const setting = `${sandbox} ${timeoutMs}`;
    const started = proven.get(setting) ?? start(config());
    proven.set(setting, started);
    return started;
  };
}

/** Where commands of agents run, proven; rejects where they cannot. */
export function execSandbox(config: Pick<Config, "tools">): Promise<Sandbox> {
  const { sandbox, timeoutMs } = config.tools.exec;
  return startSandbox({ setting: sandbox === "bubblewrap" ? "default" : sandbox, limits: { timeoutMs } });
}
