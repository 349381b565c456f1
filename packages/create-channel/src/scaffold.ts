import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** Options for a new package. */
export interface Scaffold {
  /** The folder of the package. It is created unless it exists and is empty. */
  readonly directory: string;
  /** Lower-case letters, digits and hyphens. Default: the folder's name without the prefix `signalbox-channel-`. */
  readonly id?: string;
  /** Name of the npm package. Default: `signalbox-channel-<id>`. */
  readonly packageName?: string;
  /** Version range of `@signalbox/channel`. Default: the version that this package was released with. */
  readonly channelVersion?: string;
}

/** The options are invalid and no file was written. The message contains the remedy. */
export class ScaffoldError extends Error {
  override readonly name = "ScaffoldError";
}

const templateFolder = fileURLToPath(new URL("../template", import.meta.url));
const manifestFile = fileURLToPath(new URL("../package.json", import.meta.url));
/** npm does not publish `.gitignore`, and would treat a nested `package.json` as a package. */
const renamed: Readonly<Record<string, string>> = {
  gitignore: ".gitignore",
  "package.template.json": "package.json",
};

/**
 * Writes the package of a new channel, which builds and passes the conformance suite unchanged.
 *
 * @returns the paths of the written files, relative to the folder
 * @throws ScaffoldError if the folder is not empty or a name is invalid
 */
export function scaffold(options: Scaffold): readonly string[] {
  const directory = resolve(options.directory);
  const id = options.id ?? basename(directory).replace(/^signalbox-channel-/, "");
  const packageName = options.packageName ?? `signalbox-channel-${id}`;
  check(directory, id, packageName);
  const words: Readonly<Record<string, string>> = {
    __ID__: id,
    __PACKAGE__: packageName,
    __LABEL__: labelOf(id),
    __CHANNEL_VERSION__: options.channelVersion ?? channelVersion(),
  };
  return filesIn(templateFolder).map((path) => {
    const name = basename(path);
    const target = join(dirname(path), renamed[name] ?? name);
    const text = readFileSync(join(templateFolder, path), "utf8");
    mkdirSync(dirname(join(directory, target)), { recursive: true });
    writeFileSync(
      join(directory, target),
      text.replace(/__[A-Z_]+?__/g, (word) => words[word] ?? word),
    );
    return target;
  });
}

function check(directory: string, id: string, packageName: string): void {
  if (!/^[a-z][a-z0-9-]{0,62}$/.test(id))
    throw new ScaffoldError(
      `"${id}" is not a valid channel id. Pass lower-case letters, digits and hyphens with --id.`,
    );
  if (
    !/^(?:@[a-z0-9-~][a-z0-9-._~]*\/)?[a-z0-9-~][a-z0-9-._~]*$/.test(packageName) ||
    packageName.length > 214
  )
    throw new ScaffoldError(
      `"${packageName}" is not a valid npm package name. Pass another one with --package.`,
    );
  const found = statSync(directory, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isDirectory())
    throw new ScaffoldError(`${directory} is not a folder. Choose a new or empty folder.`);
  if (readdirSync(directory).length > 0)
    throw new ScaffoldError(`${directory} is not empty. Choose a new or empty folder.`);
}

function filesIn(folder: string, inside = ""): string[] {
  return readdirSync(join(folder, inside), { withFileTypes: true }).flatMap((entry) => {
    const path = join(inside, entry.name);
    return entry.isDirectory() ? filesIn(folder, path) : [path];
  });
}

/** Converts an id to a label: `my-chat` to `My Chat`. */
function labelOf(id: string): string {
  return id.replace(
    /(?:^|-)([a-z0-9])/g,
    (_, letter: string, at: number) => `${at === 0 ? "" : " "}${letter.toUpperCase()}`,
  );
}

/** Reads the version of `@signalbox/channel`. Publishing replaces the workspace protocol by that version. */
function channelVersion(): string {
  const manifest: { devDependencies?: Record<string, string> } = JSON.parse(
    readFileSync(manifestFile, "utf8"),
  );
  return manifest.devDependencies?.["@signalbox/channel"] ?? "latest";
}
