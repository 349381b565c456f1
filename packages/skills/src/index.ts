export { readInvocation } from "./commands.ts";
export { comparePins, SkillFolderError } from "./pin.ts";
export { createSkills } from "./skills.ts";
export { type StandardFolders, standardSources } from "./sources.ts";
export { type SyncResult, syncSkills } from "./sync.ts";
export type {
  AgentSkills,
  AgentSkillsOptions,
  CatalogueOptions,
  CommandOptions,
  ExcludedSkill,
  FileKind,
  FileStat,
  FolderEntry,
  Ineligibility,
  RemoteHost,
  Skill,
  SkillCatalogue,
  SkillChange,
  SkillCommand,
  SkillDispatch,
  SkillFs,
  SkillInvocation,
  SkillPin,
  SkillProblem,
  SkillReport,
  SkillRequirements,
  SkillSource,
  SkillSourceKind,
  Skills,
  SkillsCheck,
  SkillsLoad,
  SkillsOptions,
} from "./types.ts";
