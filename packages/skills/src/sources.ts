import { join } from "node:path";

/** Where skills come from, from the lowest precedence to the highest. */
const SOURCE_KINDS = ["extra", "bundled", "managed", "personal", "project", "workspace"] as const;

/** Where skills come from; a later source replaces a skill of the same id from an earlier one. */
export type SkillSourceKind = (typeof SOURCE_KINDS)[number];

/** A folder with skill folders in it. */
export interface SkillSource {
  readonly kind: SkillSourceKind;
  /** Absolute. A folder that does not exist has no skills. */
  readonly dir: string;
  /** The folder that `dir` must really be in, once links are followed. Default: `dir` may be anywhere. */
  readonly within?: string;
}

export interface StandardFolders {
  /** `$SIGNALBOX_HOME`; its `skills` are the managed ones. */
  readonly signalboxHome: string;
  /** The user's home; its `.agents/skills` are the personal ones. */
  readonly home: string;
  /** Skills that come with the gateway. Default: none do. */
  readonly bundledDir?: string | undefined;
  /** Further folders of the operator's; each may itself be a skill. Default: none. */
  readonly extraDirs?: readonly string[] | undefined;
}

/** The sources of a gateway. Those of a workspace are added for each agent. */
export function standardSources(folders: StandardFolders): readonly SkillSource[] {
  const { signalboxHome, home, bundledDir, extraDirs = [] } = folders;
  return [
    ...extraDirs.map((dir): SkillSource => ({ kind: "extra", dir })),
    ...(bundledDir === undefined ? [] : [{ kind: "bundled", dir: bundledDir } as const]),
    { kind: "managed", dir: join(signalboxHome, "skills") },
    { kind: "personal", dir: join(home, ".agents", "skills") },
  ];
}

/** An agent can write into its workspace, so nothing there may lead out of it. */
export function workspaceSources(workspaceDir: string): readonly SkillSource[] {
  return [
    { kind: "project", dir: join(workspaceDir, ".agents", "skills"), within: workspaceDir },
    { kind: "workspace", dir: join(workspaceDir, "skills"), within: workspaceDir },
  ];
}

/** Orders sources and skills by precedence. */
export function precedenceOf(kind: SkillSourceKind): number {
  return SOURCE_KINDS.indexOf(kind);
}
