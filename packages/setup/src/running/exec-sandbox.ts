import type { Config } from "@signalbox/config";
import { type Sandbox, type SandboxSetting, startSandbox } from "@signalbox/tools";

/**
 * Proves where commands of agents run.
 *
 * @param programsDir programs of the operator's own, which they find too
 */
export type StartExecSandbox = (config: Pick<Config, "tools">, programsDir: string) => Promise<Sandbox>;

/**
 * Where commands of agents run, proven once for each setting. Where they cannot run, that is tried again when it is
 * next asked for: what stood in the way, for instance a full disk, may be gone.
 */
export function createExecSandbox(
  config: () => Pick<Config, "tools">,
  programsDir: string,
  start: StartExecSandbox = execSandbox,
): () => Promise<Sandbox> {
  const proven = new Map<string, Promise<Sandbox>>();
  return () => {
    const { sandbox, timeoutMs } = config().tools.exec;
    const setting = `${sandbox} ${timeoutMs}`;
    const before = proven.get(setting);
    if (before !== undefined) return before;
    const started = start(config(), programsDir);
    proven.set(setting, started);
    const forget = (): void => void proven.delete(setting);
    started.then(({ rung }) => {
      if (rung === "disabled" && sandbox !== "off") forget();
    }, forget);
    return started;
  };
}

/** Where commands of agents run, proven; rejects where they cannot. */
export function execSandbox(config: Pick<Config, "tools">, programsDir: string): Promise<Sandbox> {
  const { timeoutMs } = config.tools.exec;
  return startSandbox({ setting: sandboxSetting(config), limits: { timeoutMs }, programs: programsDir });
}

export function sandboxSetting({ tools }: Pick<Config, "tools">): SandboxSetting {
  const { sandbox } = tools.exec;
  return sandbox === "bubblewrap" ? "default" : sandbox;
}
