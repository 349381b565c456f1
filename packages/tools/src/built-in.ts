import type { Processes } from "./background/processes.ts";
import { createProcessTool } from "./background/tool.ts";
import { type CronToolOptions, createCronTool } from "./cron.ts";
import type { ToolDefinition } from "./define.ts";
import { type CommandEnvironment, createExecTool } from "./exec.ts";
import { createApplyPatchTool } from "./files/apply-patch.ts";
import { createEditTool } from "./files/edit.ts";
import { createFindTool } from "./files/find.ts";
import { createGrepTool } from "./files/grep.ts";
import { createLsTool } from "./files/ls.ts";
import type { FitPicture } from "./files/picture.ts";
import { createReadTool } from "./files/read.ts";
import { createWriteTool } from "./files/write.ts";
import { createGatewayTool, type GatewayToolOptions } from "./gateway.ts";
import { createImageTool, type ImageToolOptions } from "./image.ts";
import { type AgentMemory, createMemoryTools } from "./memory.ts";
import { createMessageTool, type MessageToolOptions } from "./message.ts";
import { allowsTool, type ToolRule } from "./policy.ts";
import type { Sandbox } from "./sandbox/types.ts";
import { createSearch } from "./search/search.ts";
import { createSessionsTools, type SessionsToolsOptions } from "./sessions.ts";
import { type AskUserToolOptions, createAskUserTool } from "./user-questions/ask-user.ts";
import type { GuardedFetch } from "./web/guarded-fetch.ts";
import type { WebSearchSettings } from "./web/search-engines.ts";
import { createWebSearchTool } from "./web/search-tool.ts";
import { createSeenLinks } from "./web/seen-links.ts";
import { createWebFetchTool, type WebFetchToolOptions } from "./web/tool.ts";
import { openWorkspace, type Workspace, type WorkspaceOptions } from "./workspace/workspace.ts";

/** The built-in tools, in the order in which a model sees them, unless an agent's own list gives another. */
export const BUILT_IN_TOOLS: readonly string[] = [
  "read",
  "write",
  "edit",
  "apply_patch",
  "ls",
  "find",
  "grep",
  "exec",
  "process",
  "message",
  "ask_user",
  "web_fetch",
  "web_search",
  "image",
  "cron",
  "sessions_spawn",
  "sessions_send",
  "sessions_list",
  "sessions_history",
  "memory_search",
  "memory_get",
  "memory_write",
  "memory_forget",
  "gateway",
];

/** Bytes of one page. */
const PAGE_BYTES = 5_000_000;

export interface BuiltInToolsOptions {
  readonly workspace: WorkspaceOptions;
  /** Where commands run. Its self-test takes a moment; the first agent that may run commands waits for it. */
  readonly sandbox: () => Promise<Sandbox>;
  /** Hosts that commands may reach, if policy allows it; see `domains` of `ExecToolOptions`. Default: none. */
  readonly domains?: readonly string[];
  /** Additional environment variables for commands; see `environment` of `ExecToolOptions`. Default: none. */
  readonly environment?: CommandEnvironment;
  /** Where background commands are kept. Default: there are none. */
  readonly processes?: Processes;
  /** Makes pictures smaller that are larger than models accept. Default: they are not shown. */
  readonly fitPicture?: FitPicture;
  readonly fetch: GuardedFetch;
  readonly isGiven: NonNullable<WebFetchToolOptions["isGiven"]>;
  readonly send: MessageToolOptions["send"];
  readonly isCurrent: NonNullable<MessageToolOptions["isCurrent"]>;
  /** Default: people are not asked, and the tool does not exist. */
  readonly askUser?: AskUserToolOptions["ask"];
  /** Default: there is no web search, and the tool does not exist. */
  readonly webSearch?: WebSearchSettings;
  /** Default: no model looks at pictures for another, and the tool does not exist. */
  readonly look?: ImageToolOptions["look"];
  /** Default: the agent knows nothing of its host, and the tool does not exist. */
  readonly gateway?: GatewayToolOptions;
  /** Default: there are no schedules, and the tool does not exist. */
  readonly cron?: CronToolOptions["carryOut"];
  /** Default: there are no sub-agents, and the tools do not exist. */
  readonly sessions?: SessionsToolsOptions["carryOut"];
  /** Default: the agent has no memory, and the tools do not exist. */
  readonly memory?: AgentMemory;
}

/** The tools of an agent: without `exec` and `web_fetch` where its rule allows neither, since those cost a start. */
export async function createBuiltInTools(
  rule: ToolRule,
  options: BuiltInToolsOptions,
): Promise<readonly ToolDefinition[]> {
  const { fetch, fitPicture, isGiven, send, isCurrent } = options;
  const workspace = await openWorkspace(options.workspace);
  const search = createSearch();
  const seen = createSeenLinks();
  return [
    createReadTool({ workspace, fitPicture }),
    createWriteTool({ workspace }),
    createEditTool({ workspace }),
    createApplyPatchTool({ workspace }),
    createLsTool({ workspace }),
    createFindTool({ workspace, search }),
    createGrepTool({ workspace, search }),
    ...(allowsTool(rule, "exec") ? await commandTools(rule, options, workspace) : []),
    createMessageTool({
      actions: ["send", "poll", "close_poll", "react", "edit", "delete"],
      send,
      isCurrent,
    }),
    ...(options.askUser === undefined ? [] : [createAskUserTool({ ask: options.askUser })]),
    ...(allowsTool(rule, "web_fetch")
      ? [
          createWebFetchTool({
            fetch: (url, how) => fetch(url, { ...how, maxBytes: PAGE_BYTES }),
            isGiven,
            seen,
          }),
        ]
      : []),
    ...(options.webSearch === undefined ? [] : [createWebSearchTool({ settings: options.webSearch, seen })]),
    ...(options.look === undefined ? [] : [createImageTool({ workspace, fitPicture, look: options.look })]),
    ...(options.cron === undefined ? [] : [createCronTool({ carryOut: options.cron })]),
    ...(options.sessions === undefined ? [] : createSessionsTools({ carryOut: options.sessions })),
    ...(options.memory === undefined ? [] : createMemoryTools(options.memory)),
    ...(options.gateway === undefined ? [] : [createGatewayTool(options.gateway)]),
  ];
}

/** Nothing is started in the background that could not be looked after. */
async function commandTools(
  rule: ToolRule,
  { sandbox, processes, domains = [], environment }: BuiltInToolsOptions,
  workspace: Workspace,
): Promise<readonly ToolDefinition[]> {
  const more = environment === undefined ? {} : { environment };
  const options = { workspace, sandbox: await sandbox(), domains, ...more };
  if (processes === undefined || !allowsTool(rule, "process")) return [createExecTool(options)];
  return [createExecTool({ ...options, processes }), createProcessTool({ processes })];
}
