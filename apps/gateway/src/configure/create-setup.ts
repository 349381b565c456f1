import type { Tool } from "@signalbox/agent-core";
import { type ChannelDefinition, createInMemoryCache, systemClock } from "@signalbox/channel";
import type { LoadedConfig, Problem } from "@signalbox/config";
import { type CheckedSecrets, checkSecrets, type Home, openListeningProblem } from "@signalbox/home";
import type { Vault } from "@signalbox/redaction";
import { type Accounts, type AccountsOptions, resolveAccounts } from "./accounts.ts";
import { type Agents, getWorkspaces, resolveAgents } from "./agents.ts";
import { browserProblems } from "./browser-programs.ts";
import { budgetProblems } from "./budgets.ts";
import { type ConfiguredHooks, resolvePointHooks } from "./configured-hooks.ts";
import { embeddingsProblems } from "./embeddings.ts";
import type { HostPackages } from "./host-packages.ts";
import { imageGenerationProblems } from "./image-generation.ts";
import { type Models, resolveModels } from "./models.ts";
import { type PluginTools, resolvePluginTools } from "./plugin-tools.ts";
import { routingProblems } from "./routing.ts";
import { type AgentsSkills, resolveSkills } from "./skills.ts";
import { speechProblems } from "./speech.ts";
import { toolProblems } from "./tool-names.ts";
import { transcriptionProblems } from "./transcription.ts";
import { voiceKeyProblems } from "./voice-provider.ts";

export interface SetupOptions {
  readonly home: Home;
  readonly loaded: LoadedConfig;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Redacts secrets in problems and answers. Channels add their own secrets to it. */
  readonly vault: Vault;
  readonly packages: HostPackages;
  /** Built-in channels. */
  readonly channels: readonly ChannelDefinition[];
  /** Packages of built-in channels by channel id. Their accounts can run in their own process. Default: none. */
  readonly channelPackages?: AccountsOptions["channelPackages"];
  /** Channels of the host's own clients, which do not appear in the configuration. */
  readonly ownChannels: readonly ChannelDefinition[];
  /** Tools in addition to the built-in ones. */
  readonly tools: readonly Tool[];
  /** Folder of the bundled skills. */
  readonly skillsDir: string;
  /** Returns the logger of an account. */
  readonly logger: AccountsOptions["logger"];
}

/** The usable configuration, and all problems with the rest. */
export interface Setup {
  readonly agents: Agents;
  readonly models: Models;
  readonly skills: AgentsSkills;
  readonly plugins: PluginTools;
  readonly pointHooks: ConfiguredHooks;
  readonly accounts: Accounts;
  readonly secrets: CheckedSecrets;
  /** Problems in the order of the file, with secrets removed. */
  readonly problems: readonly Problem[];
}

/** Resolves the configuration without starting anything. */
export async function createSetup(options: SetupOptions): Promise<Setup> {
  const { home, loaded, env, vault, packages, logger } = options;
  const agents = resolveAgents(loaded, home);
  const models = resolveModels(loaded, agents, env, vault, packages, home);
  const skills = await resolveSkills({ loaded, home, agents, env, bundledDir: options.skillsDir });
  const workspaces = getWorkspaces(home, agents);
  const plugins = await resolvePluginTools({ loaded, home, packages, workspaces, given: options.tools });
  const pointHooks = await resolvePointHooks({ loaded, home, packages, workspaces });
  const secrets = await checkSecrets(loaded, home, env);
  const accounts = await resolveAccounts({
    loaded,
    logger,
    home,
    vault,
    packages,
    workspaces,
    definitions: options.channels,
    channelPackages: options.channelPackages ?? {},
    own: options.ownChannels,
    cache: createInMemoryCache({ clock: systemClock }),
  });
  const ofParts = [agents, models, skills, plugins, pointHooks, accounts, secrets].flatMap(
    (part) => part.problems,
  );
  const problems = onceEach(loaded.problems, [
    ...ofParts,
    ...[openListeningProblem(loaded, env)].filter((problem) => problem !== undefined),
    ...toolProblems(loaded, agents, plugins),
    ...routingProblems(loaded, agents),
    ...embeddingsProblems(loaded),
    ...transcriptionProblems(loaded),
    ...speechProblems(loaded),
    ...voiceKeyProblems(loaded, env),
    ...imageGenerationProblems(loaded),
    ...browserProblems(loaded, agents, { home, packages }),
    ...budgetProblems(loaded, agents, models),
  ]).toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
  // Redact the problems, because they quote invalid values, which may be secrets.
  const { redact } = vault;
  const told = problems.map((problem) => ({
    ...problem,
    message: redact(problem.message),
    remedy: redact(problem.remedy),
    disables: problem.disables === undefined ? undefined : redact(problem.disables),
  }));
  return { agents, models, skills, plugins, pointHooks, accounts, secrets, problems: told };
}

/** Removes problems that repeat an earlier problem with the same value. */
function onceEach(ofFile: readonly Problem[], ofParts: readonly Problem[]): Problem[] {
  const told = new Set<Problem>();
  const merged = ofFile.map((problem) => {
    const follows = ofParts.filter((one) => problem.severity === "error" && one.path === problem.path);
    for (const following of follows) told.add(following);
    const disables = problem.disables ?? follows.find((one) => one.disables !== undefined)?.disables;
    return { ...problem, disables };
  });
  return [...merged, ...ofParts.filter((one) => !told.has(one))];
}
