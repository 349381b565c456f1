import type { Sandbox } from "./types.ts";

/** A report about a sandbox, for example for `signalbox doctor`. */
export interface SandboxReport {
  readonly level: Sandbox["level"];
  readonly ok: boolean;
  /** A summary in one sentence. */
  readonly summary: string;
  readonly notes: readonly string[];
}

/** Describes the environment in which commands run. */
export function describeSandbox(sandbox: Sandbox): SandboxReport {
  const { level, limits, notes } = sandbox;
  switch (level) {
    case "bubblewrap": {
      const memory = `${Math.round(limits.memoryBytes / 1_048_576)} MB`;
      const summary = `Commands run under bubblewrap: workspace only, no network, ${limits.timeoutMs / 1000} s, ${limits.processes} processes, ${memory}. The self-test passed.`;
      return { level, ok: true, summary, notes };
    }
    case "none":
      return {
        level,
        ok: false,
        summary: "Commands run WITHOUT a sandbox, with all permissions of the gateway's user, as configured.",
        notes,
      };
    case "disabled":
      return { level, ok: false, summary: `exec is disabled: ${sandbox.reason ?? "no reason given"}`, notes };
  }
}
