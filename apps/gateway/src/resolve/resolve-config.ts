import { type ChannelDefinition, createMemoryCache, systemClock } from "@signalbox/channel";
import { discord } from "@signalbox/channel-discord";
import { feishu } from "@signalbox/channel-feishu";
import { slack } from "@signalbox/channel-slack";
import { telegram } from "@signalbox/channel-telegram";
import type { Problem } from "@signalbox/config";
import { type JudgedSecrets, judgeSecrets, openListeningProblem } from "@signalbox/home";
import type { GuardedFetch } from "@signalbox/tools";
import type { GatewayOptions } from "../gateway-options.ts";
import { routingProblems } from "../path/2-admit/route.ts";
import { type Accounts, resolveAccounts } from "./accounts.ts";
import { resolveAgents } from "./agents.ts";
import { embeddingsProblems } from "./embeddings.ts";
import { resolveModels } from "./models.ts";
import { type PluginTools, resolvePluginTools } from "./plugin-tools.ts";
import { type AgentsSkills, resolveSkills } from "./skills.ts";
import { createSurfaces, type Surfaces } from "./surfaces.ts";
import { toolProblems } from "./tool-names.ts";
import { createWebFetch } from "./web-fetch.ts";

/** The parts of a configuration that can work, and everything that is wrong with the rest. */
export interface ResolvedConfig {
  readonly agents: ReturnType<typeof resolveAgents>;
  readonly models: ReturnType<typeof resolveModels>;
  readonly skills: AgentsSkills;
  readonly plugins: PluginTools;
  readonly accounts: Accounts;
  readonly secrets: JudgedSecrets;
  /** The channels of the gateway's own clients. */
  readonly surfaces: Surfaces;
  /** The one way from the gateway to addresses that people or models name. */
  readonly fetch: GuardedFetch;
  /** In the order of the file, without secrets. */
  readonly problems: readonly Problem[];
}

/** The channels that come with the gateway. */
export const builtInChannels: readonly ChannelDefinition[] = [discord, feishu, slack, telegram];

/** Works out what the configuration asks for without starting anything: also what `config check` shows. */
export async function resolveConfig(
  options: Pick<GatewayOptions, "home" | "loaded" | "logger" | "env" | "channels" | "tools" | "vault">,
): Promise<ResolvedConfig> {
  const { home, loaded, logger, env, vault } = options;
  const agents = resolveAgents(loaded, home);
  const models = resolveModels(loaded, agents, env, vault);
  const skills = await resolveSkills({ loaded, home, agents, env });
  const plugins = await resolvePluginTools({ loaded, home, given: options.tools ?? [] });
  const cache = createMemoryCache({ clock: systemClock });
  const secrets = await judgeSecrets(loaded, home, env);
  const definitions = [...builtInChannels, ...(options.channels ?? [])];
  const fetch = createWebFetch(loaded.config);
  const surfaces = createSurfaces(fetch);
  const own = Object.values(surfaces).map(({ definition }) => definition);
  const accounts = await resolveAccounts({ loaded, definitions, own, logger, cache, home, vault });
  const found = [agents, models, skills, plugins, accounts, secrets].flatMap((part) => part.problems);
  const problems = onceEach(loaded.problems, [
    ...found,
    ...[openListeningProblem(loaded, env)].filter((problem) => problem !== undefined),
    ...toolProblems(loaded, agents, plugins),
    ...routingProblems(loaded, agents),
    ...embeddingsProblems(loaded),
  ]).toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
  // A value that does not work is named, and may be one that came from where secrets do.
  const { redact } = vault;
  const told = problems.map((problem) => ({
    ...problem,
    message: redact(problem.message),
    remedy: redact(problem.remedy),
    ...(problem.disables === undefined ? {} : { disables: redact(problem.disables) }),
  }));
  return { agents, models, skills, plugins, accounts, surfaces, fetch, secrets, problems: told };
}

/** What is wrong with the text of a value says why its part misses it; the part only adds what does not work now. */
function onceEach(ofFile: readonly Problem[], ofParts: readonly Problem[]): Problem[] {
  const told = new Set<Problem>();
  const merged = ofFile.map((problem) => {
    const follows = ofParts.filter((one) => problem.severity === "error" && one.path === problem.path);
    for (const one of follows) told.add(one);
    const disables = problem.disables ?? follows.find((one) => one.disables !== undefined)?.disables;
    return { ...problem, ...(disables === undefined ? {} : { disables }) };
  });
  return [...merged, ...ofParts.filter((one) => !told.has(one))];
}
