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
import { oneLine } from "./text.ts";

const MAX_NAME = 64;
const MAX_DESCRIPTION = 1_024;

/**
 * Reads what a SKILL.md says of itself.
 *
 * @throws SkillParseError
 */
export function parseSkill(text: string): SkillDeclaration {
  const { frontmatter = "", body } = splitFrontmatter(text);
  const said = readFrontmatter(frontmatter);
  const host = hostMetadata(said);
  const description = said.description ?? firstWords(body);
  const version = said.version ?? said.metadata?.version;
  const emoji = host?.emoji ?? said.emoji;
  const dispatch = readDispatch(said);
  const always = host?.always ?? said.always ?? false;
  const primaryEnv = readPrimaryEnv(host?.primaryEnv);
  return {
    ...(said.name === undefined ? {} : { name: oneLine(said.name, MAX_NAME) }),
    ...(description === undefined ? {} : { description: oneLine(description, MAX_DESCRIPTION) }),
    ...(version === undefined ? {} : { declaredVersion: oneLine(version, 64) }),
    ...(emoji === undefined ? {} : { emoji: oneLine(emoji, 16) }),
    ...(dispatch === undefined ? {} : { dispatch }),
    ...(primaryEnv === undefined ? {} : { primaryEnv }),
    ...(always ? { always, body: body.trim() } : { always }),
    requires: {
      bins: host?.requires?.bins ?? [],
      anyBins: host?.requires?.anyBins ?? [],
      env: host?.requires?.env ?? [],
      config: host?.requires?.config ?? [],
      os: [...(host?.os ?? []), ...(host?.requires?.os ?? [])].map(platformName),
    },
    install: readInstalls(host?.install ?? []).map((way) => ({ ...way, os: way.os.map(platformName) })),
    userInvocable: said["user-invocable"] ?? true,
    disableModelInvocation: said["disable-model-invocation"] ?? false,
  };
}

function readPrimaryEnv(name: string | undefined): string | undefined {
  if (name !== undefined && !isForKeys(name))
    throw new SkillParseError(
      `primaryEnv cannot be ${JSON.stringify(name)}: it has to name a key's variable.`,
    );
  return name;
}

function readDispatch(said: Frontmatter): SkillDispatch | undefined {
  const kind = said["command-dispatch"];
  if (kind === undefined) return undefined;
  if (kind !== "tool")
    throw new SkillParseError(`command-dispatch must be tool, not ${JSON.stringify(kind)}.`);
  const tool = said["command-tool"]?.trim();
  if (tool === undefined) throw new SkillParseError("command-dispatch: tool needs a command-tool.");
  const argMode = said["command-arg-mode"] ?? "raw";
  if (argMode !== "raw") {
    throw new SkillParseError(`command-arg-mode must be raw, not ${JSON.stringify(argMode)}.`);
  }
  return { kind, tool, argMode };
}

/** As `process.platform` calls it. */
function platformName(name: string): string {
  const lower = name.toLowerCase();
  if (lower === "macos" || lower === "mac" || lower === "osx") return "darwin";
  return lower === "windows" ? "win32" : lower;
}

/** The first paragraph, else the first heading. */
function firstWords(body: string): string | undefined {
  const blocks = body
    .slice(0, 8_192)
    .split(/\n\s*\n|\n(?=#)|(?<=^#.*)\n/m)
    .map((block) => block.trim())
    .filter((block) => block !== "");
  const paragraph = blocks.find((block) => /^[^#`~<|>-]/.test(block) && !/^\*\s/.test(block));
  return paragraph ?? blocks[0]?.replace(/^#+\s*/, "");
}
