import type { AttemptKind } from "./attempt-kinds.ts";

/** A defence against attempts of some kinds, and the change of the sources that removes it. */
export interface Defence {
  readonly name: string;
  readonly kinds: readonly AttemptKind[];
  /** The sandbox level on which this defence is effective. Default: bubblewrap. */
  readonly level?: "none";
  readonly changes: readonly { readonly file: string; readonly from: string; readonly to: string }[];
}

/** The self-test would detect the missing isolation and disable commands, so it is removed as well. */
const NO_SELF_TEST = {
  file: "sandbox/start.ts",
  from: "if (problem !== undefined) return createDisabled(limits, problem);",
  to: "",
};

export const DEFENCES: readonly Defence[] = [
  {
    name: "paths are followed inside the workspace alone",
    kinds: ["paths", "links"],
    changes: [
      {
        file: "workspace/path-resolver.ts",
        from: "if (inRoot === undefined) throw createOutsideError(path);\n    return inRoot;",
        to: 'return inRoot ?? { root: { real: "/", configured: "/", writable: true }, parts: splitPath(path) };',
      },
      {
        file: "workspace/walk.ts",
        from: "const inRoot = findRoot(this.#roots, target);",
        to: 'const inRoot = findRoot(this.#roots, target) ?? { root: { real: "/", configured: "/", writable: true }, parts: splitPath(target) };',
      },
    ],
  },
  {
    name: "the gateway's state is closed",
    kinds: ["gateway state"],
    changes: [
      {
        file: "workspace/path-resolver.ts",
        from: "if (this.#forbidden.some((each) => isInside(path, each) && !isInside(root, each)))",
        to: "if (path === root && this.#forbidden.length < 0)",
      },
    ],
  },
  {
    name: "attachments and notes belong to somebody",
    kinds: ["other conversations"],
    changes: [
      {
        file: "files/places.ts",
        from: "return own === undefined || fold(second) === own;",
        to: 'return own !== "nobody" || second !== "nobody";',
      },
    ],
  },
  {
    name: "hidden places are refused by their names",
    kinds: ["existence elsewhere"],
    changes: [
      {
        file: "workspace/walk.ts",
        from: "if (!this.#isVisible(join(this.#top().path, name))) throw new HiddenPlaceError(name);",
        to: "",
      },
      {
        file: "workspace/path-resolver.ts",
        from: "if (this.#walk.isVisible?.(place) === false) throw new HiddenPlaceError(original);",
        to: "",
      },
    ],
  },
  {
    name: "only owners write what the agent is",
    kinds: ["notes of the agent"],
    changes: [
      { file: "policy.ts", from: 'member: [\n    "write_identity",', to: "member: [" },
      { file: "policy.ts", from: "if (facts.taint.length > 0)", to: "if (facts.taint.length > 99)" },
      { file: "policy.ts", from: 'if (role === "guest") return', to: 'if (facts.agentId === "") return' },
    ],
  },
  {
    name: "guests see no private file",
    kinds: ["private files"],
    changes: [
      { file: "policy.ts", from: 'if (role === "guest") return', to: 'if (facts.agentId === "") return' },
      {
        file: "files/places.ts",
        from: 'if (facts.role === "guest" && isPrivate(path)) return false;',
        to: 'if (facts.agentId === "" && isPrivate(path)) return false;',
      },
      {
        file: "labels/covers.ts",
        from: 'const ofGuests = facts.role === "guest" ?',
        to: 'const ofGuests = facts.agentId === "" ?',
      },
    ],
  },
  {
    name: "commands are isolated from files and processes outside",
    kinds: ["commands outside"],
    changes: [
      {
        file: "sandbox/bubblewrap.ts",
        from: 'args.push("--bind", folders.dir, folders.dir);',
        to: 'for (const dir of [folders.dir.slice(0, folders.dir.lastIndexOf("/"))]) args.push("--bind", dir, dir);',
      },
      NO_SELF_TEST,
    ],
  },
  {
    name: "the gateway's state is hidden from commands",
    kinds: ["commands on the gateway's state"],
    changes: [
      {
        file: "sandbox/bubblewrap.ts",
        from: "for (const path of folders.forbidden) {",
        to: "for (const path of folders.forbidden.slice(99)) {",
      },
    ],
  },
  {
    name: "commands have no network",
    kinds: ["network"],
    changes: [
      {
        file: "sandbox/bubblewrap-args.ts",
        from: '"--unshare-all",',
        to: '"--unshare-pid", "--unshare-ipc", "--unshare-uts",',
      },
      NO_SELF_TEST,
    ],
  },
  {
    name: "an untainted run's commands do not see what others wrote",
    kinds: ["letters unread"],
    changes: [
      {
        file: "sandbox/mounts.ts",
        from: "return covers.flatMap(",
        to: "return covers.slice(99).flatMap(",
      },
    ],
  },
  {
    name: "what tainted runs and other people write is labelled",
    kinds: ["laundering"],
    changes: [
      {
        file: "labels/label.ts",
        from: "if (mark !== undefined) return { source: mark.source };",
        to: "if (mark !== undefined) return undefined;",
      },
    ],
  },
  {
    name: "what the agent is, is read-only to commands of others",
    kinds: ["notes by command"],
    changes: [
      {
        file: "exec.ts",
        from: 'const isOwners = role === "owner" && taint.length === 0;',
        to: 'const isOwners = role !== "system" && taint.length < 99;',
      },
    ],
  },
  {
    name: "system calls are filtered",
    kinds: ["special files", "sockets and memory"],
    changes: [
      { file: "sandbox/start.ts", from: "filter,\n", to: "filter: undefined,\n" },
      {
        file: "sandbox/self-test.ts",
        from: 'output.includes("special=left")',
        to: 'output.includes("special=never")',
      },
    ],
  },
  {
    name: "memory counts, also where it is shared",
    kinds: ["much memory"],
    changes: [
      {
        file: "sandbox/start.ts",
        from: "const groups = openCommandGroups(limits, options.cgroups);",
        to: "const groups = undefined;",
      },
      { file: "sandbox/watch.ts", from: ' + readField(status, "RssShmem")', to: "" },
      { file: "sandbox/watch.ts", from: ' + readField(rollup, "Pss_Shmem")', to: "" },
    ],
  },
  {
    name: "questions escape what could not be seen",
    kinds: ["hidden characters"],
    changes: [
      { file: "escape.ts", from: "return text.replace(INVISIBLE,", to: "return text.replace(/(?!)/u," },
    ],
  },
  {
    name: "files that a command names are approved with it",
    kinds: ["changed after approval"],
    changes: [
      { file: "exec.ts", from: "...(files.length === 0 ? {} : { files }),", to: "" },
      {
        file: "exec.ts",
        from: "hashes(await findNamedFiles(workspace, cwd, words, run.facts))",
        to: "hashes([])",
      },
    ],
  },
  {
    name: "commands without a sandbox are asked about",
    level: "none",
    kinds: ["commands outside", "commands on the gateway's state", "network", "notes by command"],
    changes: [
      { file: "exec.ts", from: "sandbox.network || args", to: "sandbox.limits.timeoutMs < 0 || args" },
    ],
  },
  {
    name: "only owners change what runs by itself",
    kinds: ["schedules"],
    changes: [
      {
        file: "policy.ts",
        from: '"read_elsewhere",\n    "schedule",',
        to: '"read_elsewhere",',
      },
      { file: "policy.ts", from: "if (facts.taint.length > 0)", to: "if (facts.taint.length > 99)" },
      { file: "policy.ts", from: 'if (role === "guest") return', to: 'if (facts.agentId === "") return' },
    ],
  },
  {
    name: "what servers say is others' words",
    kinds: ["lying servers"],
    changes: [
      {
        file: "runner.ts",
        from: "if (blueprint.taints !== undefined) state.taint(",
        to: 'if (blueprint.taints === "person") state.taint(',
      },
    ],
  },
  {
    name: "what is in the background is its author's",
    kinds: ["words of the background"],
    changes: [
      {
        file: "background/tool.ts",
        from: "if (author !== undefined && isForeign(author, run.facts))",
        to: "if (author !== undefined && isForeign(author, run.facts) && run.version < 0)",
      },
    ],
  },
  {
    name: "a command takes its input from nobody who may do less",
    kinds: ["commands of others"],
    changes: [
      {
        file: "background/tool.ts",
        from: "return isAtLeast(facts.role, before.role) &&",
        to: "return isAtLeast(before.role, before.role) ||",
      },
    ],
  },
  {
    name: "what the next command is given can be exchanged by none",
    kinds: ["exchanged before a command"],
    changes: [
      {
        file: "labels/covers.ts",
        from: "assertFolder(path, top);\n",
        to: "assertFolder(path, top);\n    if (getType(path) === undefined) continue;\n",
      },
      {
        file: "exec.ts",
        from: "const ofOthers = [INBOX_FOLDER, PEOPLE_FOLDER];",
        to: "const ofOthers: string[] = [];",
      },
    ],
  },
  {
    name: "a search sees nothing but the folder that was opened for it",
    kinds: ["exchanged during a search"],
    changes: [
      {
        file: "search/ripgrep.ts",
        from: "const isSandboxed = launcher !== undefined && descriptor !== undefined;",
        to: 'const isSandboxed = launcher === "" && descriptor !== undefined;',
      },
      {
        file: "search/candidate.ts",
        from: "return descriptor === undefined ? folder :",
        to: "return descriptor === undefined || folder !== undefined ? folder :",
      },
    ],
  },
  {
    name: "commands in the background end with their conversation",
    kinds: ["commands that stay"],
    changes: [
      {
        file: "background/processes.ts",
        from: "await Promise.all(matching.map((process) => process.kill()));",
        to: "if (filter === undefined) await Promise.all(matching.map((process) => process.kill()));",
      },
    ],
  },
];
