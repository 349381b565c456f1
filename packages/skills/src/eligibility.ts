import type { Skill } from "./skill.ts";

/** Why a skill is not offered. */
export interface Ineligibility {
  readonly requirement: "bins" | "anyBins" | "env" | "config" | "os" | "enabled" | "allowed" | "pin";
  /** What is missing, one by one. */
  readonly missing: readonly string[];
  /** One sentence for people. */
  readonly message: string;
}

/** The machine on which an agent's commands run, where that is not the gateway's. */
export interface RemoteHost {
  readonly platforms: readonly string[];
  hasBin(bin: string): boolean;
  /** Told to the model after the list of skills, for instance the machine's name. */
  readonly note?: string;
}

/** What requirements are held against. */
export interface Machine {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  hasBin(bin: string): boolean;
  hasConfig(key: string): boolean;
}

/**
 * What a skill lacks; empty where nothing. Programs and platform are those of the machine on which the agent's
 * commands run, environment and configuration those of the gateway.
 */
export function unmetRequirements(
  skill: Skill,
  machine: Machine,
  remote?: RemoteHost,
): readonly Ineligibility[] {
  if (skill.always) return [];
  const { bins, anyBins, env, config, os } = skill.requires;
  const platforms = remote?.platforms ?? [machine.platform];
  const hasBin = (bin: string) => (remote ?? machine).hasBin(bin);
  const where = remote === undefined ? "on the path" : "on the remote host";
  const reasons: Ineligibility[] = [];

  if (os.length > 0 && !os.some((name) => platforms.includes(name))) {
    const message = `It is for ${os.join(" or ")}, and this is ${platforms.join(" and ") || "no platform"}.`;
    reasons.push({ requirement: "os", missing: os, message });
  }
  const missingBins = bins.filter((bin) => !hasBin(bin));
  if (missingBins.length > 0) {
    const message = `${missingBins.join(", ")} ${missingBins.length === 1 ? "is" : "are"} not ${where}.`;
    reasons.push({ requirement: "bins", missing: missingBins, message });
  }
  if (anyBins.length > 0 && !anyBins.some(hasBin)) {
    reasons.push({
      requirement: "anyBins",
      missing: anyBins,
      message: `None of ${anyBins.join(", ")} is ${where}.`,
    });
  }
  const missingEnv = env.filter((name) => !Object.hasOwn(machine.env, name) || !machine.env[name]);
  if (missingEnv.length > 0) {
    const message = `Set ${missingEnv.join(", ")} in the gateway's environment.`;
    reasons.push({ requirement: "env", missing: missingEnv, message });
  }
  const missingConfig = config.filter((key) => !machine.hasConfig(key));
  if (missingConfig.length > 0) {
    const message = `Set ${missingConfig.join(", ")} in the configuration.`;
    reasons.push({ requirement: "config", missing: missingConfig, message });
  }
  return reasons;
}
