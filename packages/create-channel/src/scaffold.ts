import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** What to make. */
export interface Scaffold {
  /** The folder; it is made, and may exist where it is empty. */
  readonly directory: string;
  /** Lower-case letters, digits and hyphens. Default: the folder's name, without `signalbox-channel-` in front. */
  readonly id?: string;
  /** The npm package. Default: `signalbox-channel-` and the id. */
  readonly packageName?: string;
  /** What the package depends on as `@signalbox/channel`. Default: the version that came with this package. */
  readonly channelVersion?: string;
}

/** Nothing was written; the message says what to do. */
export class ScaffoldError extends Error {
  override readonly name = "ScaffoldError";
}

const templateFolder = fileURLToPath(new URL("../template", import.meta.url));
const manifestFile = fileURLToPath(new URL("../package.json", import.meta.url));
/** npm leaves the one out of what it publishes, and would take the other for a package's own. */
const renamed: Readonly<Record<string, string>> = {
  gitignore: ".gitignore",
  "package.template.json": "package.json",
};

/**
 * Writes the package of a new channel, which builds and passes the conformance kit as it is.
 *
 * @returns the files it wrote, as paths in the folder
 * @throws ScaffoldError for a folder with something in it, and for names that cannot be
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
      `"${id}" cannot be a channel's id: lower-case letters, digits and hyphens. Name another with --id.`,
    );
  if (
    !/^(?:@[a-z0-9-~][a-z0-9-._~]*\/)?[a-z0-9-~][a-z0-9-._~]*$/.test(packageName) ||
    packageName.length > 214
  )
    throw new ScaffoldError(
      `"${packageName}" cannot be the name of an npm package. Name another with --package.`,
    );
  const found = statSync(directory, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isDirectory())
    throw new ScaffoldError(`${directory} is no folder. Name one that is new or empty.`);
  if (readdirSync(directory).length > 0)
    throw new ScaffoldError(`${directory} has something in it. Name a folder that is new or empty.`);
}

function filesIn(folder: string, inside = ""): string[] {
  return readdirSync(join(folder, inside), { withFileTypes: true }).flatMap((entry) => {
    const path = join(inside, entry.name);
    return entry.isDirectory() ? filesIn(folder, path) : [path];
  });
}

/** `my-chat` is called My Chat. */
function labelOf(id: string): string {
  return id.replace(
    /(?:^|-)([a-z0-9])/g,
    (_, letter: string, at: number) => `${at === 0 ? "" : " "}${letter.toUpperCase()}`,
  );
}

/** Publishing puts the version in the place of the workspace's. */
function channelVersion(): string {
  const manifest: { devDependencies?: Record<string, string> } = JSON.parse(
    readFileSync(manifestFile, "utf8"),
  );
  return manifest.devDependencies?.["@signalbox/channel"] ?? "latest";
}
