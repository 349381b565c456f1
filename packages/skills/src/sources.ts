import { join } from "node:path";
import type { SkillSource, SkillSourceKind } from "./types.ts";

/** From the lowest precedence to the highest. */
const SOURCE_KINDS: readonly SkillSourceKind[] = [
  "extra",
  "bundled",
  "managed",
  "personal",
  "project",
  "workspace",
];

export interface StandardFolders {
  /** `$SIGNALBOX_HOME`; its `skills` are the managed ones. */
  readonly signalboxHome: string;
  /** The user's home; its `.agents/skills` are the personal ones. */
  readonly home: string;
  /** Skills that come with the gateway. */
  readonly bundledDir?: string | undefined;
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

export function rankOf(kind: SkillSourceKind): number {
  return SOURCE_KINDS.indexOf(kind);
}
