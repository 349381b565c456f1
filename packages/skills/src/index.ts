export type { CatalogueOptions, SkillCatalogue } from "./catalogue.ts";
export { type CommandOptions, readInvocation, type SkillCommand, type SkillInvocation } from "./commands.ts";
export type { Ineligibility, SkillTarget } from "./eligibility.ts";
export type { SkillEntry } from "./environment.ts";
export type { FileKind, FileStat, FolderEntry, SkillFs } from "./fs.ts";
export { type InstallCommand, installCommands, type SkillInstall } from "./install.ts";
export type { AgentSkillsOptions, SkillPins, SkillsOptions } from "./options.ts";
export { createPathLookup } from "./path-lookup.ts";
export type { CompareTexts, PendingSkill } from "./pins/approvals.ts";
export { describePending, shortDigest } from "./pins/describe.ts";
export { type SkillChange, SkillFolderError, type SkillPin } from "./pins/pin.ts";
export { type ApprovedSkill, createPinFiles, type PinStore } from "./pins/pin-store.ts";
export type { Skill, SkillDeclaration, SkillDispatch, SkillProblem, SkillRequirements } from "./skill.ts";
export {
  type ActiveSkill,
  type AgentSkills,
  createSkills,
  type ExcludedSkill,
  type SkillReport,
  type Skills,
  type SkillsCheck,
} from "./skills.ts";
export { type SkillSource, type SkillSourceKind, type StandardFolders, standardSources } from "./sources.ts";
