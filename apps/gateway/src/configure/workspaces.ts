import { reasonOf } from "@signalbox/agent-core";
import { type Env, type Home, prepareWorkspace } from "@signalbox/home";
import { createWorkspace, detectLanguage } from "@signalbox/prompt";
import type { Agents } from "./agents.ts";

export interface WorkspacesOptions {
  readonly home: Home;
  /** Determines the language of new workspaces if the configuration sets none. */
  readonly env: Env;
  readonly logger: { warn(fields: object, message: string): void };
}

/**
 * Creates the workspaces in the home with their initial files. Configured folders belong to their owner and are not
 * changed, except that folders for shards are created in them.
 *
 * @throws GatewayError that names the folder that cannot be created
 */
export async function prepareWorkspaces(
  { home, env, logger }: WorkspacesOptions,
  agents: Agents,
): Promise<void> {
  for (const { id, shards, workspaceDir, language = detectLanguage(env) } of agents.shards) {
    const isInHome = agents.get(id)?.workspaceDir === home.workspace(id);
    if (isInHome || shards > 1) prepareWorkspace(workspaceDir);
    if (!isInHome) continue;
    await createWorkspace(workspaceDir, language).catch((error: unknown) =>
      logger.warn(
        { dir: workspaceDir, err: reasonOf(error) },
        "the first files of a new workspace could not be created",
      ),
    );
  }
}
