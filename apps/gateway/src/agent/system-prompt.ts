import { reasonOf } from "@signalbox/agent-core";
import type { MediaForModel } from "@signalbox/attachments";
import type { MessageEvent } from "@signalbox/channel";
import type { SessionAccess } from "@signalbox/memory/agents";
import {
  type BuiltPrompt,
  buildSystemPrompt,
  type ContextDocument,
  createWorkspaceFileReader,
  type ExtraSection,
  endFirstRun,
  getCapabilityNames,
  getClientInstructions,
  getSharedFiles,
  type PromptTool,
  readFirstRun,
  SUB_AGENT_TASK,
  type WorkspaceFile,
} from "@signalbox/prompt";
import type { Role } from "@signalbox/tools";
import type { Agent } from "../configure/agents.ts";
import type { AgentModel } from "../configure/models.ts";
import type { CoreContext } from "../core-context.ts";
import { DOCUMENTS } from "./documents.ts";

/** As long as the list of skills, a file of the workspace and all of those are at most, where the window is large. */
const CATALOGUE_CHARS = 30_000;
const FILE_CHARS = 20_000;
const ALL_FILES_CHARS = 150_000;
/** Largest share of the context window for the system prompt. */
const SHARE_OF_WINDOW = 0.5;

/** Inputs of a run's system prompt. */
export interface PromptedTurn {
  readonly agent: Agent;
  readonly agentModel: AgentModel;
  /** First user message of the conversation, as far as the history holds it. */
  readonly opening: string;
  readonly sessionKey: string;
  /** The last message of the turn. */
  readonly event: MessageEvent;
  /** A sub-agent's words are for the session that made it. */
  readonly isSubAgent: boolean;
  /** The weakest of those who speak in it. */
  readonly role: Role;
  readonly tools: readonly PromptTool[];
  readonly pages: readonly ContextDocument[];
  readonly files: MediaForModel["files"];
  /** Number of user messages in the history. */
  readonly answers: number;
  /** The agent's notes, as far as those who speak may know them. */
  readonly memory: readonly ExtraSection[];
}

/** Builds the system prompt of a turn. */
export function createSystemPrompt(
  core: CoreContext,
  access: Pick<SessionAccess, "mayReadOwnersNotes">,
): (turn: PromptedTurn) => Promise<BuiltPrompt> {
  const workspaceFiles = createWorkspaceFileReader({
    now: core.now,
    onProblem: (dir, { name, message }) => core.logger.warn({ dir, file: name }, message),
  });
  return async (turn) => {
    const { agent, agentModel, sessionKey, event, isSubAgent, role, pages, files } = turn;
    const model = `${agentModel.model.provider}/${agentModel.model.id}`;
    const { extra } = await core.hooks.modify("before_prompt_build", {
      agentId: agent.id,
      sessionKey,
      event,
      model,
      pages,
      files,
      extra: [],
      instructions: getClientInstructions(event.turn),
    });
    const tellsOwners = access.mayReadOwnersNotes(sessionKey, role);
    const meetsOwner = role === "owner" && tellsOwners && !isSubAgent;
    const firstRun = meetsOwner ? await firstRunOf(core, agent, turn.answers) : [];
    const skills = await core.config.current().skills.forAgent(agent);
    const { contextWindow } = agentModel.model;
    const { text: catalogue } = await skills.catalogue({
      relevantTo: turn.opening,
      maxChars: Math.min(CATALOGUE_CHARS, contextWindow),
    });
    return buildSystemPrompt({
      mode: isSubAgent ? "minimal" : "full",
      agent: {
        id: agent.id,
        name: agent.name,
        ...(agent.systemPrompt === undefined ? {} : { systemPrompt: agent.systemPrompt }),
      },
      tools: turn.tools,
      ...(catalogue === "" ? {} : { skills: catalogue }),
      activeSkills: skills.active,
      workspaceDir: agent.workspaceDir,
      documentation: DOCUMENTS,
      workspaceFiles: filesFor(tellsOwners, await workspaceFiles(agent.workspaceDir)),
      workspaceFileLimits: {
        maxFileChars: Math.min(FILE_CHARS, Math.floor(contextWindow / 2)),
        maxTotalChars: Math.min(ALL_FILES_CHARS, contextWindow),
      },
      maxTokens: contextWindow * SHARE_OF_WINDOW,
      extra: [...(isSubAgent ? [SUB_AGENT_TASK] : []), ...extra, ...turn.memory, ...firstRun],
      runtime: {
        session: sessionKey,
        channel: event.channel,
        model,
        thinking: agent.thinking,
        capabilities: getCapabilityNames(
          core.getAccount(event.channel, event.account)?.definition.capabilities,
        ),
        facts: { system: `${process.platform} ${process.arch}` },
      },
    });
  };
}

/** Owners' files are included only if nobody else reads the conversation. */
function filesFor(tellsOwners: boolean, files: readonly WorkspaceFile[]): readonly WorkspaceFile[] {
  return tellsOwners ? files : getSharedFiles(files);
}

/** Returns the first-run section of a new agent, and removes its file after the first conversation. */
async function firstRunOf(
  { logger }: CoreContext,
  { id, workspaceDir }: Agent,
  answers: number,
): Promise<readonly ExtraSection[]> {
  const { section, isOver, problem } = await readFirstRun(workspaceDir, answers);
  if (problem !== undefined) logger.warn({ agent: id, file: problem.name }, problem.message);
  if (isOver)
    await endFirstRun(workspaceDir).catch((error: unknown) =>
      logger.warn({ agent: id, err: reasonOf(error) }, "BOOTSTRAP.md could not be removed"),
    );
  return section === undefined ? [] : [section];
}
