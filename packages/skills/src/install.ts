import { basename, join } from "node:path";
import { z } from "zod";
import { sha256 } from "./text.ts";

/** Instructions of a skill for installing its requirements. They have no authority: only an owner runs them. */
export type SkillInstall = Common &
  (
    | { readonly kind: "brew"; readonly formula: string }
    | { readonly kind: "npm"; readonly package: string }
    | { readonly kind: "go"; readonly module: string }
    | { readonly kind: "uv"; readonly package: string }
    | Download
  );

interface Common {
  /** Name by which an owner chooses the instructions. Default: their kind. */
  readonly id: string;
  /** Programs that are installed. */
  readonly bins: readonly string[];
  /** Platforms, named as in `process.platform`. Empty: any. */
  readonly os: readonly string[];
}

interface Download {
  readonly kind: "download";
  readonly url: string;
  /** Format of the download, and the number of leading folders of a tar that are dropped. */
  readonly archive?: { readonly format: "tar" | "zip"; readonly stripComponents: number };
  /** SHA-256 of the download in hexadecimal. */
  readonly sha256?: string;
}

/** The skill whose requirements are installed. */
interface RequiringSkill {
  readonly id: string;
  readonly requires: { readonly bins: readonly string[] };
}

/** A command of an installation. Run it without a shell. */
export interface InstallCommand {
  readonly program: string;
  readonly args: readonly string[];
  /** Additional environment variables. */
  readonly env: Readonly<Record<string, string>>;
  /** A file that must have this SHA-256 afterwards. Otherwise do not run the next command. */
  readonly expected?: { readonly file: string; readonly sha256: string };
  /** A folder that may not grow beyond this size while the command runs. Otherwise kill it and stop. */
  readonly limit?: { readonly folder: string; readonly bytes: number };
}

/** Maximum size of a download, in bytes. */
const MAX_DOWNLOAD = 200_000_000;
/** Maximum size of an unpacked archive, in bytes. */
const MAX_UNPACKED = 1_000_000_000;

/** Names of packages that cannot be taken for an option, a path or an address. */
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
  .transform((declared): SkillInstall => {
    const shared = { id: declared.id ?? declared.kind, bins: declared.bins, os: declared.os };
    switch (declared.kind) {
      case "node":
      case "npm":
        return { ...shared, kind: "npm", package: declared.package };
      case "download": {
        const { url, stripComponents, sha256 } = declared;
        const isArchive = declared.extract ?? declared.archive !== undefined;
        return {
          ...shared,
          kind: "download",
          url,
          ...(isArchive ? { archive: { format: getFormat(declared.archive ?? url), stripComponents } } : {}),
          ...(sha256 === undefined ? {} : { sha256 }),
        };
      }
      default:
        return { ...declared, ...shared };
    }
  });

/** Returns the format by its name (`zip`, `tar.gz`) or by an address that ends with it. */
function getFormat(named: string): "tar" | "zip" {
  return /(?:^|\.)zip$/i.test(named.replace(/[?#].*$/, "")) ? "zip" : "tar";
}

/** Parses installation instructions. Drops unknown kinds and unsafe names. */
export function readInstalls(declared: readonly unknown[]): readonly SkillInstall[] {
  return declared.flatMap((each) => {
    const read = Install.safeParse(each);
    return read.success ? [read.data] : [];
  });
}

/**
 * Returns the commands that install the programs of a skill into `bin` of a folder. `bin` must exist. Only Homebrew
 * installs elsewhere.
 */
export function getInstallCommands(
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
    expected: sha256 === undefined ? undefined : { file, sha256 },
  };
  if (archive === undefined) {
    const program = join(folder, "bin", bins[0] ?? name);
    return [curl, { program: "install", args: ["-m", "755", file, program], env: {} }];
  }
  const place = getUnpackFolder(install, skill.id, folder);
  return [
    curl,
    ...getUnpackCommands(file, archive, place),
    ...getLinkCommands(install, skill.requires.bins, place, join(folder, "bin")),
  ];
}

/** Returns a separate folder for each download, since archives may contain any file names. */
function getUnpackFolder({ id, url }: Download & Common, skillId: string, folder: string): string {
  const name = sha256(JSON.stringify([id, url])).slice(0, 16);
  return join(folder, "skills", skillId, name);
}

/**
 * Unpacks an archive into an empty folder. Afterwards, removes everything but files, folders and links, and set-id
 * bits, which tar keeps if it runs as root.
 */
function getUnpackCommands(
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
            ...[
              "--extract",
              "--no-same-owner",
              "--no-same-permissions",
              "--file",
              file,
              "--directory",
              place,
            ],
            `--strip-components=${stripComponents}`,
          ],
          env: {},
        };
  return [
    { program: "rm", args: ["-rf", place], env: {} },
    { program: "mkdir", args: ["-p", place], env: {} },
    { ...unpack, limit: { folder: place, bytes: MAX_UNPACKED } },
    {
      program: "find",
      args: [place, "!", "-type", "f", "!", "-type", "d", "!", "-type", "l", "-delete"],
      env: {},
    },
    { program: "chmod", args: ["-R", "a-s", place], env: {} },
  ];
}

/**
 * Links the declared programs, or else those that the skill requires, into `bin`. They are searched for, since archives
 * contain folders with version numbers.
 */
function getLinkCommands(
  { bins }: SkillInstall,
  required: readonly string[],
  place: string,
  into: string,
): readonly InstallCommand[] {
  const wanted = bins.length > 0 ? bins : required.filter((bin) => BinName.safeParse(bin).success);
  return wanted.map((bin) => ({
    program: "find",
    args: [
      ...[place, "-type", "f", "-perm", "-u+x", "-name", bin],
      ...["-exec", "ln", "-sf", "{}", join(into, bin), ";", "-quit"],
    ],
    env: {},
  }));
}
