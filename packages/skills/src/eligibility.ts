import type { Skill } from "./skill.ts";

/** The reason why a skill is not offered. */
export interface Ineligibility {
  readonly requirement: "bins" | "anyBins" | "env" | "config" | "os" | "enabled" | "allowed" | "pin";
  /** The missing items. */
  readonly missing: readonly string[];
  /** One sentence for people. */
  readonly message: string;
}

/** A place where an agent's commands run and find other programs or variables than the host. */
export interface SkillTarget {
  /** Name of the place in messages. Default: the remote host. */
  readonly name?: string;
  readonly platforms: readonly string[];
  hasBin(bin: string): boolean;
  /** Environment of the commands. Default: that of the host. */
  readonly env?: Environment;
  /** A note for the model after the list of skills, such as the name of the machine. */
  readonly note?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The machine that requirements are checked against. */
export interface Machine {
  readonly env: Environment;
  readonly platform: string;
  hasBin(bin: string): boolean;
  hasConfig(key: string): boolean;
}

/**
 * Returns the requirements of a skill that are not met. Programs, platform and environment are those of the agent's
 * commands, and the configuration is the host's.
 *
 * @param context `given` are the variables that the settings of the skill define
 */
export function findUnmetRequirements(
  skill: Skill,
  machine: Machine,
  { target, given }: { readonly target: SkillTarget | undefined; readonly given: Environment },
): readonly Ineligibility[] {
  if (skill.always) return [];
  const { bins, anyBins, env, config, os } = skill.requires;
  const platforms = target?.platforms ?? [machine.platform];
  const hasBin = (bin: string) => (target ?? machine).hasBin(bin);
  const where = target === undefined ? "on the path" : `in ${target.name ?? "the remote host"}`;
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
  const environments = [given, target?.env ?? machine.env];
  const missingEnv = env.filter(
    (name) => !environments.some((variables) => Object.hasOwn(variables, name) && variables[name]),
  );
  if (missingEnv.length > 0) {
    const place =
      target?.env === undefined
        ? "in the gateway's environment"
        : `for it in the configuration (skills.entries.${skill.id}.env)`;
    const message = `Set ${missingEnv.join(", ")} ${place}.`;
    reasons.push({ requirement: "env", missing: missingEnv, message });
  }
  const missingConfig = config.filter((key) => !machine.hasConfig(key));
  if (missingConfig.length > 0) {
    const message = `Set ${missingConfig.join(", ")} in the configuration.`;
    reasons.push({ requirement: "config", missing: missingConfig, message });
  }
  return reasons;
}
