import type { Config } from "@signalbox/config";
import { type Sandbox, type SandboxSetting, startSandbox } from "@signalbox/tools";

/**
 * Starts and tests the sandbox for agents' commands.
 *
 * @param programsDir the folder of the operator's own programs, which is added to the search path
 */
export type StartExecSandbox = (config: Pick<Config, "tools">, programsDir: string) => Promise<Sandbox>;

/** Time for which a failed self-test is cached, in milliseconds. */
const RETRY_MS = 60_000;

interface Proof {
  readonly sandbox: Promise<Sandbox>;
  /** Time of the failed self-test. */
  failedAt: number | undefined;
}

/**
 * Creates a function that starts the sandbox for agents' commands. The sandbox is tested once per configuration. A
 * failed test is repeated after a minute, because its cause (a full disk, for example) may no longer exist.
 */
export function createExecSandbox(
  config: () => Pick<Config, "tools">,
  programsDir: string,
  { now, start = execSandbox }: { readonly now: () => number; readonly start?: StartExecSandbox | undefined },
): () => Promise<Sandbox> {
  const proofs = new Map<string, Proof>();
  const counts = ({ failedAt }: Proof): boolean =>
    failedAt === undefined || Math.abs(now() - failedAt) < RETRY_MS;
  return () => {
    const { sandbox, timeoutMs } = config().tools.exec;
    const setting = `${sandbox} ${timeoutMs}`;
    const before = proofs.get(setting);
    if (before !== undefined && counts(before)) return before.sandbox;
    const proof: Proof = { sandbox: start(config(), programsDir), failedAt: undefined };
    proofs.set(setting, proof);
    const fail = (): void => {
      proof.failedAt = now();
    };
    proof.sandbox.then(({ level }) => {
      if (level === "disabled" && sandbox !== "off") fail();
    }, fail);
    return proof.sandbox;
  };
}

/** Starts and tests the sandbox for agents' commands. Rejects if commands cannot run. */
export function execSandbox(config: Pick<Config, "tools">, programsDir: string): Promise<Sandbox> {
  const { timeoutMs } = config.tools.exec;
  return startSandbox({ setting: sandboxSetting(config), limits: { timeoutMs }, programs: programsDir });
}

export function sandboxSetting({ tools }: Pick<Config, "tools">): SandboxSetting {
  const { sandbox } = tools.exec;
  return sandbox === "bubblewrap" ? "default" : sandbox;
}
