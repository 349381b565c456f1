import type { Processes } from "./background/processes.ts";
import { createProcessTool } from "./background/tool.ts";
import { createBrowserTools } from "./browser/browser-tools.ts";
import type { AgentBrowser } from "./browser/types.ts";
import { type CronToolOptions, createCronTool } from "./cron.ts";
import type { ToolDefinition } from "./define.ts";
import { type CommandEnvironment, createExecTool } from "./exec.ts";
import { createApplyPatchTool } from "./files/apply-patch.ts";
import { createEditTool } from "./files/edit.ts";
import { createFindTool } from "./files/find.ts";
import { createGrepTool } from "./files/grep.ts";
import type { FitImage } from "./files/image-file.ts";
import { createLsTool } from "./files/ls.ts";
import { createReadTool } from "./files/read.ts";
import { createWriteTool } from "./files/write.ts";
import { createGatewayTool, type GatewayToolOptions } from "./gateway.ts";
import { createGenerateImageTool, type GenerateImageToolOptions } from "./generate-image.ts";
import { createImageTool, type ImageToolOptions } from "./image.ts";
import { type AgentMemory, createMemoryTools } from "./memory.ts";
import { createMessageTool, type MessageToolOptions } from "./message.ts";
import { allowsTool, type ToolRule } from "./policy.ts";
import type { Sandbox } from "./sandbox/types.ts";
import { createSearch } from "./search/search.ts";
import { createSessionsTools, type SessionsToolsOptions } from "./sessions.ts";
import { type AskUserToolOptions, createAskUserTool } from "./user-questions/ask-user.ts";
import { createWebFetchTool, type WebFetchToolOptions } from "./web/fetch-tool.ts";
import type { GuardedFetch } from "./web/guarded-fetch.ts";
import type { WebSearchSettings } from "./web/search-engines.ts";
import { createWebSearchTool } from "./web/search-tool.ts";
import { createPageLinks } from "./web/session-links.ts";
import { openWorkspace, type Workspace, type WorkspaceOptions } from "./workspace/workspace.ts";

/** The built-in tools in the order in which a model sees them, unless the agent's own list specifies another order. */
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
  "browser_navigate",
  "browser_back",
  "browser_snapshot",
  "browser_screenshot",
  "browser_click",
  "browser_type",
  "browser_select",
  "browser_press_key",
  "browser_dialog",
  "browser_tabs",
  "browser_wait",
  "browser_downloads",
  "browser_save_download",
  "image",
  "generate_image",
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

const MAX_PAGE_BYTES = 5_000_000;

export interface BuiltInToolsOptions {
  readonly workspace: WorkspaceOptions;
  /** Starts the sandbox, including its self-test. Called for the first agent that may run commands. */
  readonly sandbox: () => Promise<Sandbox>;
  /** See `ExecToolOptions`. Default: none. */
  readonly domains?: readonly string[];
  /** See `ExecToolOptions`. Default: none. */
  readonly environment?: CommandEnvironment;
  /** The background commands of all conversations. Default: commands cannot run in the background. */
  readonly processes?: Processes;
  /** Resizes images that are larger than models accept. Default: such images are not shown. */
  readonly fitImage?: FitImage;
  readonly fetch: GuardedFetch;
  readonly isKnownLink: NonNullable<WebFetchToolOptions["isKnownLink"]>;
  readonly send: MessageToolOptions["send"];
  readonly isCurrent: NonNullable<MessageToolOptions["isCurrent"]>;
  /** Default: the tool `ask_user` does not exist. */
  readonly askUser?: AskUserToolOptions["ask"];
  /** Default: the tool `web_search` does not exist. */
  readonly webSearch?: WebSearchSettings;
  /** Default: the `browser_*` tools do not exist. */
  readonly browser?: AgentBrowser;
  /** Default: the tool `image` does not exist. */
  readonly describeImage?: ImageToolOptions["describeImage"];
  /** Default: the tool `generate_image` does not exist. */
  readonly generateImage?: GenerateImageToolOptions["generateImage"];
  /** Default: the tool `gateway` does not exist. */
  readonly gateway?: GatewayToolOptions;
  /** Default: the tool `cron` does not exist. */
  readonly cron?: CronToolOptions["carryOut"];
  /** Default: the `sessions_*` tools do not exist. */
  readonly sessions?: SessionsToolsOptions["carryOut"];
  /** Default: the `memory_*` tools do not exist. */
  readonly memory?: AgentMemory;
}

/** Creates the tools of an agent. `exec` and `web_fetch` are created only if the agent's rule allows them. */
export async function createBuiltInTools(
  rule: ToolRule,
  options: BuiltInToolsOptions,
): Promise<readonly ToolDefinition[]> {
  const { fetch, fitImage, isKnownLink, send, isCurrent } = options;
  const workspace = await openWorkspace(options.workspace);
  const search = createSearch();
  const pageLinks = createPageLinks();
  return [
    createReadTool({ workspace, fitImage }),
    createWriteTool({ workspace }),
    createEditTool({ workspace }),
    createApplyPatchTool({ workspace }),
    createLsTool({ workspace }),
    createFindTool({ workspace, search }),
    createGrepTool({ workspace, search }),
    ...(allowsTool(rule, "exec") ? await createCommandTools(rule, options, workspace) : []),
    createMessageTool({
      actions: ["send", "poll", "close_poll", "react", "edit", "delete"],
      send,
      isCurrent,
    }),
    ...(options.askUser === undefined ? [] : [createAskUserTool({ ask: options.askUser })]),
    ...(allowsTool(rule, "web_fetch")
      ? [
          createWebFetchTool({
            fetch: (url, how) => fetch(url, { ...how, maxBytes: MAX_PAGE_BYTES }),
            isKnownLink,
            pageLinks,
          }),
        ]
      : []),
    ...(options.webSearch === undefined
      ? []
      : [createWebSearchTool({ settings: options.webSearch, pageLinks })]),
    ...(options.browser === undefined
      ? []
      : createBrowserTools({ browser: options.browser, workspace, fitImage, isKnownLink, pageLinks })),
    ...(options.describeImage === undefined
      ? []
      : [createImageTool({ workspace, fitImage, describeImage: options.describeImage })]),
    ...(options.generateImage === undefined
      ? []
      : [createGenerateImageTool({ workspace, fitImage, generateImage: options.generateImage })]),
    ...(options.cron === undefined ? [] : [createCronTool({ carryOut: options.cron })]),
    ...(options.sessions === undefined ? [] : createSessionsTools({ carryOut: options.sessions })),
    ...(options.memory === undefined ? [] : createMemoryTools(options.memory)),
    ...(options.gateway === undefined ? [] : [createGatewayTool(options.gateway)]),
  ];
}

/**
 * Creates the tool `exec`, and `process` if the agent may use it. Without `process`, commands cannot run in the
 * background.
 */
async function createCommandTools(
  rule: ToolRule,
  { sandbox, processes, domains = [], environment }: BuiltInToolsOptions,
  workspace: Workspace,
): Promise<readonly ToolDefinition[]> {
  const options = { workspace, sandbox: await sandbox(), domains, environment };
  if (processes === undefined || !allowsTool(rule, "process")) return [createExecTool(options)];
  return [createExecTool({ ...options, processes }), createProcessTool({ processes })];
}
