import { reasonOf } from "@signalbox/agent-core";
import type { MediaForModel } from "@signalbox/attachments";
import type { MessageEvent } from "@signalbox/channel";
import type { Config } from "@signalbox/config";
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
import { findGroupRule, getGroupIds } from "@signalbox/routing";
import type { Role } from "@signalbox/tools";
import type { Agent } from "../configure/agents.ts";
import type { AgentModel } from "../configure/models.ts";
import { createAdmissionInput } from "../configure/routing.ts";
import type { CoreContext } from "../core-context.ts";
import { DOCUMENTS } from "./documents.ts";

/**
 * Size limits for large context windows, in characters: the skill list, one workspace file, and all workspace files
 * together.
 */
const CATALOGUE_CHARS = 30_000;
const FILE_CHARS = 20_000;
const ALL_FILES_CHARS = 150_000;
/** Maximum share of the context window that the system prompt may use. */
const SHARE_OF_WINDOW = 0.5;

/** Inputs of a run's system prompt. */
export interface PromptedTurn {
  readonly agent: Agent;
  readonly agentModel: AgentModel;
  /** The first user message that is still in the history. */
  readonly opening: string;
  readonly sessionKey: string;
  /** The last message of the turn. */
  readonly event: MessageEvent;
  /** True in a sub-agent's session. The sub-agent's output goes to the session that created it. */
  readonly isSubAgent: boolean;
  /** The role with the fewest rights among all speakers in the conversation. */
  readonly role: Role;
  readonly tools: readonly PromptTool[];
  readonly pages: readonly ContextDocument[];
  readonly files: MediaForModel["files"];
  /** Number of user messages in the history. */
  readonly answers: number;
  /** Sections with the agent's notes that all speakers may see. */
  readonly memory: readonly ExtraSection[];
}

/** Builds the system prompt of a turn. */
export function createSystemPrompt(
  core: CoreContext,
  access: SessionAccess,
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
    const firstRun = meetsOwner ? await readFirstRunSection(core, agent, turn.answers) : [];
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
        systemPrompt: agent.systemPrompt,
      },
      tools: turn.tools,
      skills: catalogue === "" ? undefined : catalogue,
      activeSkills: skills.active,
      workspaceDir: agent.workspaceDir,
      documentation: DOCUMENTS,
      workspaceFiles: filesFor(tellsOwners, await workspaceFiles(agent.workspaceDir)),
      workspaceFileLimits: {
        maxFileChars: Math.min(FILE_CHARS, Math.floor(contextWindow / 2)),
        maxTotalChars: Math.min(ALL_FILES_CHARS, contextWindow),
      },
      maxTokens: contextWindow * SHARE_OF_WINDOW,
      extra: [
        ...(isSubAgent ? [SUB_AGENT_TASK] : []),
        ...getGroupSection(core.config.current().settings.access.groups.rules, event),
        ...extra,
        ...turn.memory,
        ...firstRun,
      ],
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

/** Returns the instructions for the group of a message, from `access.groups.rules`. */
function getGroupSection(
  rules: Config["access"]["groups"]["rules"],
  event: MessageEvent,
): readonly ExtraSection[] {
  if (event.conversation.kind === "direct") return [];
  const text = findGroupRule(rules, getGroupIds(createAdmissionInput(event, {}))).prompt;
  return text === undefined ? [] : [{ name: "group", title: "This group", text, part: "stable" }];
}

/** Includes owners' files only if nobody else reads the conversation. */
function filesFor(tellsOwners: boolean, files: readonly WorkspaceFile[]): readonly WorkspaceFile[] {
  return tellsOwners ? files : getSharedFiles(files);
}

/** Returns the first-run section of a new agent and removes its file after the first conversation. */
async function readFirstRunSection(
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
