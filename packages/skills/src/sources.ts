import { join } from "node:path";

/** Kinds of sources, from the lowest precedence to the highest. */
const SOURCE_KINDS = ["extra", "bundled", "managed", "personal", "project", "workspace"] as const;

/** Origin of a skill. A later kind replaces skills of the same id from earlier ones. */
export type SkillSourceKind = (typeof SOURCE_KINDS)[number];

/** A folder that contains skill folders. */
export interface SkillSource {
  readonly kind: SkillSourceKind;
  /** Absolute path. A folder that does not exist has no skills. */
  readonly dir: string;
  /** The folder that must contain `dir` after links are resolved. Default: `dir` may be anywhere. */
  readonly within?: string;
}

export interface StandardFolders {
  /** `$SIGNALBOX_HOME`. Its `skills` are the managed skills. */
  readonly signalboxHome: string;
  /** The user's home. Its `.agents/skills` are the personal skills. */
  readonly home: string;
  /** Skills that come with the host. Default: none. */
  readonly bundledDir?: string | undefined;
  /** Further folders; each may itself be a skill. Default: none. */
  readonly extraDirs?: readonly string[] | undefined;
}

/** Returns the sources that all agents share. `forAgent` adds those of a workspace. */
export function standardSources(folders: StandardFolders): readonly SkillSource[] {
  const { signalboxHome, home, bundledDir, extraDirs = [] } = folders;
  return [
    ...extraDirs.map((dir): SkillSource => ({ kind: "extra", dir })),
    ...(bundledDir === undefined ? [] : [{ kind: "bundled", dir: bundledDir } as const]),
    { kind: "managed", dir: join(signalboxHome, "skills") },
    { kind: "personal", dir: join(home, ".agents", "skills") },
  ];
}

/** Returns the sources of a workspace. Agents can write there, so nothing in them may lead out of the workspace. */
export function workspaceSources(workspaceDir: string): readonly SkillSource[] {
  return [
    { kind: "project", dir: join(workspaceDir, ".agents", "skills"), within: workspaceDir },
    { kind: "workspace", dir: join(workspaceDir, "skills"), within: workspaceDir },
  ];
}

/** Returns a number by which sources and skills are sorted by precedence. */
export function getPrecedence(kind: SkillSourceKind): number {
  return SOURCE_KINDS.indexOf(kind);
}
