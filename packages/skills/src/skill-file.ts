import { isForKeys } from "./environment.ts";
import {
  type Frontmatter,
  hostMetadata,
  readFrontmatter,
  SkillParseError,
  splitFrontmatter,
} from "./frontmatter.ts";
import { readInstalls } from "./install.ts";
import type { SkillDeclaration, SkillDispatch } from "./skill.ts";
import { MAX_COMMAND_DESCRIPTION, oneLine } from "./text.ts";

const MAX_NAME = 64;
const MAX_DESCRIPTION = 1_024;

/**
 * Parses a SKILL.md.
 *
 * @throws SkillParseError
 */
export function parseSkill(text: string): SkillDeclaration {
  const { frontmatter = "", body, line } = splitFrontmatter(text);
  const declared = readFrontmatter(frontmatter, line);
  const host = hostMetadata(declared);
  const description = declared.description ?? firstParagraph(body);
  const version = declared.version ?? declared.metadata?.version;
  const emoji = host?.emoji ?? declared.emoji;
  const always = host?.always ?? declared.always ?? false;
  const { primaryEnv, warnings } = readPrimaryEnv(host?.primaryEnv ?? []);
  return {
    name: declared.name && oneLine(declared.name, MAX_NAME),
    description: description && oneLine(description, MAX_DESCRIPTION),
    declaredVersion: version && oneLine(version, 64),
    emoji: emoji && oneLine(emoji, 16),
    localized: readLocalized(host?.localized ?? {}),
    dispatch: readDispatch(declared),
    primaryEnv,
    always,
    body: always ? body.trim() : undefined,
    requires: {
      bins: host?.requires?.bins ?? [],
      anyBins: host?.requires?.anyBins ?? [],
      env: host?.requires?.env ?? [],
      config: host?.requires?.config ?? [],
      os: [...(host?.os ?? []), ...(host?.requires?.os ?? [])].map(toPlatform),
    },
    install: readInstalls(host?.install ?? []).map((install) => ({
      ...install,
      os: install.os.map(toPlatform),
    })),
    userInvocable: declared["user-invocable"] ?? true,
    disableModelInvocation: declared["disable-model-invocation"] ?? false,
    warnings,
  };
}

/** Published skills also list several names, or name a variable for an address. Those are ignored with a warning. */
function readPrimaryEnv(names: readonly string[]): Pick<SkillDeclaration, "primaryEnv" | "warnings"> {
  const primaryEnv = names.find(isForKeys);
  const ignored = names.filter((name) => name !== primaryEnv);
  const reason = primaryEnv === undefined ? "it must name the variable of a key" : `${primaryEnv} is used`;
  const warnings = ignored.map((name) => `primaryEnv ${JSON.stringify(name)} is ignored: ${reason}.`);
  return { primaryEnv, warnings };
}

/** Keeps texts for language tags such as `zh`. */
function readLocalized(
  texts: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> | undefined {
  const entries = Object.entries(texts)
    .filter(([language, text]) => /^[a-z]{2,3}(?:-[A-Za-z]{2,4})?$/.test(language) && text.trim() !== "")
    .map(([language, text]): [string, string] => [language, oneLine(text, MAX_COMMAND_DESCRIPTION)]);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function readDispatch(declared: Frontmatter): SkillDispatch | undefined {
  const kind = declared["command-dispatch"];
  if (kind === undefined) return undefined;
  if (kind !== "tool")
    throw new SkillParseError(`command-dispatch must be tool, not ${JSON.stringify(kind)}.`);
  const tool = declared["command-tool"]?.trim();
  if (tool === undefined) throw new SkillParseError("command-dispatch: tool needs a command-tool.");
  const argMode = declared["command-arg-mode"] ?? "raw";
  if (argMode !== "raw") {
    throw new SkillParseError(`command-arg-mode must be raw, not ${JSON.stringify(argMode)}.`);
  }
  return { kind, tool, argMode };
}

/** Returns the name that `process.platform` uses. */
function toPlatform(name: string): string {
  const lower = name.toLowerCase();
  if (lower === "macos" || lower === "mac" || lower === "osx") return "darwin";
  return lower === "windows" ? "win32" : lower;
}

/** Returns the first paragraph, or else the first heading. */
function firstParagraph(body: string): string | undefined {
  const blocks = body
    .slice(0, 8_192)
    .split(/\n\s*\n|\n(?=#)|(?<=^#.*)\n/m)
    .map((block) => block.trim())
    .filter((block) => block !== "");
  const paragraph = blocks.find((block) => /^[^#`~<|>-]/.test(block) && !/^\*\s/.test(block));
  return paragraph ?? blocks[0]?.replace(/^#+\s*/, "");
}
