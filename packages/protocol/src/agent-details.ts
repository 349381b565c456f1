import * as z from "zod/mini";
import { AgentInfo } from "./values.ts";

/** A tool that exists in this gateway, and the policy's decision about it. */
export const AgentTool = z.object({
  name: z.string(),
  /** `mcp` for tools of MCP servers that are running. */
  source: z.enum(["built-in", "package", "mcp"]),
  /** The decision for an owner in a direct conversation that has read nothing from other people. */
  decision: z.enum(["allow", "ask", "deny"]),
  /** The rule that decides. */
  rule: z.string(),
  /** One sentence that explains the decision, in the language of the request. */
  reason: z.string(),
});
export type AgentTool = z.infer<typeof AgentTool>;

/** A skill and its state for one agent. */
export const AgentSkill = z.object({
  id: z.string(),
  description: z.string(),
  /** The folder group that it comes from, such as `bundled` or `workspace`. */
  source: z.string(),
  version: z.optional(z.string()),
  /** `pending`: waits for an owner's approval. `excluded`: `reasons` explains why. */
  state: z.enum(["active", "pending", "excluded"]),
  reasons: z.array(z.string()),
  /** Present if programs are missing and the skill declares how to install them on this machine. */
  install: z.optional(
    z.object({
      /** Command that shows the exact commands of the installation, and runs them if the user agrees. */
      command: z.string(),
      /** The declared methods, such as `brew: gh`. */
      methods: z.array(z.string()),
    }),
  ),
});
export type AgentSkill = z.infer<typeof AgentSkill>;

/** Response of `GET /api/agents/:id`. */
export const AgentDetails = z.extend(AgentInfo, {
  fallbacks: z.array(z.string()),
  /** Folder of its workspace. */
  workspace: z.string(),
  tools: z.array(AgentTool),
  skills: z.array(AgentSkill),
});
export type AgentDetails = z.infer<typeof AgentDetails>;

/** Response of `GET /api/agents/:id/prompt`: the sections of the latest system prompt. Token counts are estimates. */
export const AgentPrompt = z.object({
  /** Id of the message that it was created for. */
  messageId: z.string(),
  sessionKey: z.optional(z.string()),
  at: z.number(),
  model: z.string(),
  digest: z.string(),
  sections: z.array(
    z.object({
      name: z.string(),
      /** `stable` sections are the same in every turn, so the vendor can cache them. */
      part: z.string(),
      chars: z.number(),
      tokens: z.number(),
      /**
       * The text without secrets; an escape such as `\u{202e}` replaces each invisible character. Only for owners, and
       * only for the latest prompt that this gateway has created since its start, because the text is not stored.
       */
      text: z.optional(z.string()),
    }),
  ),
});
export type AgentPrompt = z.infer<typeof AgentPrompt>;

/** Query of `GET /api/agents/:id/files` and `GET /api/agents/:id/file`. */
export const WorkspacePath = z.object({
  /** Path inside the workspace. Default: the workspace itself. */
  path: z._default(z.string().check(z.maxLength(1_000)), ""),
});
export type WorkspacePath = z.infer<typeof WorkspacePath>;

/** Response of `GET /api/agents/:id/files`. */
export const WorkspaceFolder = z.object({
  path: z.string(),
  /** Folders first, then files, sorted by name. At most 500. */
  entries: z.array(
    z.object({
      name: z.string(),
      kind: z.enum(["file", "folder"]),
      bytes: z.optional(z.number()),
      modifiedAt: z.optional(z.number()),
    }),
  ),
  /** True if there are more entries. */
  truncated: z.boolean(),
});
export type WorkspaceFolder = z.infer<typeof WorkspaceFolder>;

/** Response of `GET /api/agents/:id/file`: a text file of at most 256 kB. */
export const WorkspaceFile = z.object({
  path: z.string(),
  text: z.string(),
  /** Changes with each change of the file. */
  revision: z.string(),
});
export type WorkspaceFile = z.infer<typeof WorkspaceFile>;

/** Body of `POST /api/agents/:id/file`. */
export const WorkspaceFileChange = z.strictObject({
  path: z.string().check(z.minLength(1), z.maxLength(1_000)),
  text: z.string().check(z.maxLength(256_000)),
  /** The revision that the change is based on. `null` for a file that does not exist. */
  revision: z.nullable(z.string()),
});
export type WorkspaceFileChange = z.infer<typeof WorkspaceFileChange>;

/** A model that can be chosen. */
export const ModelInfo = z.object({
  /** `provider/model` */
  model: z.string(),
  /** Size of the context window in tokens. */
  contextWindow: z.number(),
  maxOutputTokens: z.number(),
  /** Millionths of a US dollar for a million tokens. Absent if unknown. */
  inputPrice: z.optional(z.number()),
  outputPrice: z.optional(z.number()),
});
export type ModelInfo = z.infer<typeof ModelInfo>;

/** Response of `GET /api/models`. */
export const ModelList = z.object({
  /** Providers with a key or an address. */
  providers: z.array(z.string()),
  models: z.array(ModelInfo),
});
export type ModelList = z.infer<typeof ModelList>;

/** Body of `POST /api/models/try`. */
export const ModelTrial = z.strictObject({ model: z.string().check(z.minLength(1), z.maxLength(200)) });
export type ModelTrial = z.infer<typeof ModelTrial>;

/** Response of `POST /api/models/try`. */
export const ModelTrialResult = z.object({
  ok: z.boolean(),
  /** The reason why the model did not answer. */
  detail: z.string(),
  remedy: z.optional(z.string()),
  durationMs: z.number(),
});
export type ModelTrialResult = z.infer<typeof ModelTrialResult>;
