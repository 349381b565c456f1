export { type ConfigEdit, editConfig, parseConfigPath } from "./edit.ts";
export type { SecretSources } from "./interpolate.ts";
export { configJsonSchema, getAccountKeys } from "./json-schema.ts";
export {
  type Config,
  findMissingReferences,
  type LoadedConfig,
  type LoadOptions,
  loadConfig,
} from "./load.ts";
export { type MaskedText, maskSecrets, restoreSecrets } from "./masked-text.ts";
export { ConfigError, type ConfigPath, formatPath, formatProblem, type Problem } from "./problem.ts";
export { removeEmptySections } from "./remove-empty-sections.ts";
export type {
  AccessConfig,
  AgentConfig,
  AgentDefaults,
  BackupsConfig,
  BindingConfig,
  BudgetConfig,
  ChannelConfig,
  GatewayConfig,
  HookConfig,
  LinksConfig,
  MemoryConfig,
  ModelConfig,
  PointHookConfig,
  ProviderConfig,
  RepliesConfig,
  RetentionConfig,
  SessionConfig,
  SkillsConfig,
  StoreConfig,
  TelemetryConfig,
  ToolsConfig,
} from "./schema/index.ts";
export { isId, isTimeZone } from "./schema/values.ts";
export { findSecrets, withoutSecrets } from "./secret-places.ts";
export { DEFAULT_AGENT } from "./sections.ts";
export { didYouMean } from "./suggest.ts";
