export { readInvocation, type SkillCommand } from "./commands.ts";
export type { SkillTarget } from "./eligibility.ts";
export { getInstallCommands, type InstallCommand, type SkillInstall } from "./install.ts";
export { createPathLookup } from "./path-lookup.ts";
export { describePending, type PendingSkill, shortDigest } from "./pins/approvals.ts";
export { createPins, importPinFiles, type PinStore } from "./pins/pin-store.ts";
export type { Skill } from "./skill.ts";
export { type AgentSkills, createSkills, type SkillReport, type Skills, type SkillsCheck } from "./skills.ts";
export { standardSources } from "./sources.ts";
