import { basename, join } from "node:path";
import { z } from "zod";
import { sha256 } from "./text.ts";

/** One way to install what a skill requires, as the skill states it. Text without authority: only an owner runs it. */
export type SkillInstall = Common &
  (
    | { readonly kind: "brew"; readonly formula: string }
    | { readonly kind: "npm"; readonly package: string }
    | { readonly kind: "go"; readonly module: string }
    | { readonly kind: "uv"; readonly package: string }
    | Download
  );

interface Common {
  /** The name by which an owner chooses it, if there are several. Default: its kind. */
  readonly id: string;
  /** Programs that it brings. */
  readonly bins: readonly string[];
  /** Platforms as `process.platform` names them, one of them; empty means any. */
  readonly os: readonly string[];
}

interface Download {
  readonly kind: "download";
  readonly url: string;
  /** What it has to be unpacked as; of a tar, how many folders are left out then. */
  readonly archive?: { readonly format: "tar" | "zip"; readonly stripComponents: number };
  /** Of what is downloaded, in hexadecimal. */
  readonly sha256?: string;
}

/** The skill that something is installed for. */
interface RequiringSkill {
  readonly id: string;
  /** Programs. */
  readonly requires: { readonly bins: readonly string[] };
}

/** One command of an installation, run as it is, without a shell. */
export interface InstallCommand {
  readonly program: string;
  readonly args: readonly string[];
  /** Additional environment variables. */
  readonly env: Readonly<Record<string, string>>;
  /** What it has to have written: whoever runs it checks that, and goes on to the next only then. */
  readonly expected?: { readonly file: string; readonly sha256: string };
}

/** Bytes of what is downloaded. */
const MAX_DOWNLOAD = 200_000_000;

/** Names of packages, in no way an option, a path or an address. */
const PackageName = z.string().regex(/^@?[A-Za-z0-9][\w.-]*(?:\/[\w.-]+)*(?:@[\w.^~-]+)?$/);
const ModuleName = z.string().regex(/^[a-z0-9][\w.-]*\.[a-z]+(?:\/[\w.~-]+)+(?:@[\w.-]+)?$/i);
const BinName = z.string().regex(/^[A-Za-z0-9][\w.+-]*$/);
const Address = z.url({ protocol: /^https$/ }).refine((url) => {
  const { username, password } = new URL(url);
  return username === "" && password === "";
});

const common = {
  id: z.string().min(1).max(64).optional(),
  bins: z.array(BinName).max(32).default([]),
  os: z.array(z.string()).max(8).default([]),
};

const Install = z
  .discriminatedUnion("kind", [
    z.object({ ...common, kind: z.literal("brew"), formula: PackageName }),
    z.object({ ...common, kind: z.enum(["npm", "node"]), package: PackageName }),
    z.object({ ...common, kind: z.literal("go"), module: ModuleName }),
    z.object({ ...common, kind: z.literal("uv"), package: PackageName }),
    z.object({
      ...common,
      kind: z.literal("download"),
      url: Address,
      archive: z.string().optional(),
      extract: z.boolean().optional(),
      stripComponents: z.int().min(0).max(16).default(0),
      sha256: z
        .string()
        .regex(/^[0-9a-f]{64}$/i)
        .toLowerCase()
        .optional(),
    }),
  ])
  .transform((said): SkillInstall => {
    const shared = { id: said.id ?? said.kind, bins: said.bins, os: said.os };
    switch (said.kind) {
      case "node":
      case "npm":
        return { ...shared, kind: "npm", package: said.package };
      case "download": {
        const { url, stripComponents, sha256 } = said;
        const isArchive = said.extract ?? said.archive !== undefined;
        return {
          ...shared,
          kind: "download",
          url,
          ...(isArchive ? { archive: { format: formatOf(said.archive ?? url), stripComponents } } : {}),
          ...(sha256 === undefined ? {} : { sha256 }),
        };
      }
      default:
        return { ...said, ...shared };
    }
  });

/** By the name of a format, `zip` or `tar.gz`, or else by an address that ends with one. */
function formatOf(named: string): "tar" | "zip" {
  return /(?:^|\.)zip$/i.test(named.replace(/[?#].*$/, "")) ? "zip" : "tar";
}

/** The ways that can be read; unknown kinds and unsafe names are dropped. */
export function readInstalls(said: readonly unknown[]): readonly SkillInstall[] {
  return said.flatMap((each) => {
    const read = Install.safeParse(each);
    return read.success ? [read.data] : [];
  });
}

/**
 * The commands of an installation that brings the programs of a skill into `bin` of a folder, which has to be there,
 * and whatever else it needs beside that; Homebrew alone has a place of its own.
 */
export function installCommands(
  install: SkillInstall,
  skill: RequiringSkill,
  folder: string,
): readonly InstallCommand[] {
  const bin = join(folder, "bin");
  switch (install.kind) {
    case "brew":
      return [{ program: "brew", args: ["install", install.formula], env: {} }];
    case "npm": {
      const args = ["install", "--global", "--ignore-scripts", "--prefix", folder, install.package];
      return [{ program: "npm", args, env: {} }];
    }
    case "go": {
      const module = install.module.includes("@") ? install.module : `${install.module}@latest`;
      return [{ program: "go", args: ["install", module], env: { GOBIN: bin } }];
    }
    case "uv": {
      const env = {
        UV_TOOL_BIN_DIR: bin,
        UV_TOOL_DIR: join(folder, "uv", "tools"),
        UV_PYTHON_INSTALL_DIR: join(folder, "uv", "python"),
      };
      return [{ program: "uv", args: ["tool", "install", install.package], env }];
    }
    case "download":
      return downloadCommands(install, skill, folder);
  }
}

function downloadCommands(
  install: Download & Common,
  skill: RequiringSkill,
  folder: string,
): readonly InstallCommand[] {
  const { url, archive, bins, sha256 } = install;
  const name = basename(new URL(url).pathname) || "download";
  const file = join(folder, "downloads", skill.id, name);
  const curl: InstallCommand = {
    program: "curl",
    args: [
      ...["--fail", "--location", "--proto", "=https", "--max-filesize", String(MAX_DOWNLOAD)],
      ...["--create-dirs", "--output", file, url],
    ],
    env: {},
    ...(sha256 === undefined ? {} : { expected: { file, sha256 } }),
  };
  if (archive === undefined) {
    const program = join(folder, "bin", bins[0] ?? name);
    return [curl, { program: "install", args: ["-m", "755", file, program], env: {} }];
  }
  const place = unpackedIn(install, skill.id, folder);
  return [
    curl,
    ...unpackCommands(file, archive, place),
    ...linkCommands(install, skill.requires.bins, place, join(folder, "bin")),
  ];
}

/** A folder of each download's own: an archive may hold anything, under the names of files of others too. */
function unpackedIn({ id, url }: Download & Common, skillId: string, folder: string): string {
  const name = sha256(JSON.stringify([id, url])).slice(0, 16);
  return join(folder, "skills", skillId, name);
}

/** What an earlier version left there would be found instead of what this one brings. */
function unpackCommands(
  file: string,
  { format, stripComponents }: NonNullable<Download["archive"]>,
  place: string,
): readonly InstallCommand[] {
  const unpack =
    format === "zip"
      ? { program: "unzip", args: ["-o", file, "-d", place], env: {} }
      : {
          program: "tar",
          args: [
            ...["--extract", "--no-same-owner", "--file", file, "--directory", place],
            `--strip-components=${stripComponents}`,
          ],
          env: {},
        };
  return [
    { program: "rm", args: ["-rf", place], env: {} },
    { program: "mkdir", args: ["-p", place], env: {} },
    unpack,
  ];
}

/**
 * Of what was unpacked, the programs that it is said to bring; where that is not said, those that the skill needs. They
 * are looked for: archives have them in folders of their versions.
 */
function linkCommands(
  { bins }: SkillInstall,
  needed: readonly string[],
  place: string,
  into: string,
): readonly InstallCommand[] {
  const wanted = bins.length > 0 ? bins : needed.filter((bin) => BinName.safeParse(bin).success);
  return wanted.map((bin) => ({
    program: "find",
    args: [
      ...[place, "-type", "f", "-perm", "-u+x", "-name", bin],
      ...["-exec", "ln", "-sf", "{}", join(into, bin), ";", "-quit"],
    ],
    env: {},
  }));
}
