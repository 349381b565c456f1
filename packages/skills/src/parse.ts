import { parse as parseYaml, YAMLParseError } from "yaml";
import { oneLine } from "./names.ts";
import type { SkillDispatch, SkillRequirements } from "./types.ts";

/** What a SKILL.md says of itself. */
export interface ParsedSkill {
  readonly name?: string;
  readonly description?: string;
  readonly declaredVersion?: string;
  readonly emoji?: string;
  readonly always: boolean;
  readonly requires: SkillRequirements;
  readonly userInvocable: boolean;
  readonly disableModelInvocation: boolean;
  readonly dispatch?: SkillDispatch;
}

/** A SKILL.md that says something that cannot be meant. */
export class SkillParseError extends Error {
  override readonly name = "SkillParseError";
}

const MAX_FRONTMATTER = 32_768;
const MAX_NAME = 64;
const MAX_DESCRIPTION = 1_024;

/** @throws SkillParseError */
export function parseSkill(text: string): ParsedSkill {
  const { frontmatter, body } = split(text.replace(/^\ufeff/, ""));
  const fields = new Fields(frontmatter === undefined ? {} : readYaml(frontmatter), "");
  const metadata = fields.object("metadata");
  const own = metadata?.object("signalbox") ?? metadata?.object("openclaw");
  const requires = own?.object("requires");
  const name = fields.text("name");
  const description = fields.text("description") ?? firstWords(body);
  const version = fields.text("version") ?? metadata?.text("version");
  const emoji = own?.text("emoji") ?? fields.text("emoji");
  const dispatch = readDispatch(fields);
  return {
    ...(name === undefined ? {} : { name: oneLine(name, MAX_NAME) }),
    ...(description === undefined ? {} : { description: oneLine(description, MAX_DESCRIPTION) }),
    ...(version === undefined ? {} : { declaredVersion: oneLine(version, 64) }),
    ...(emoji === undefined ? {} : { emoji: oneLine(emoji, 16) }),
    ...(dispatch === undefined ? {} : { dispatch }),
    always: own?.boolean("always") ?? false,
    requires: {
      bins: requires?.names("bins") ?? [],
      anyBins: requires?.names("anyBins") ?? [],
      env: requires?.names("env") ?? [],
      config: requires?.names("config") ?? [],
      os: [...(own?.names("os") ?? []), ...(requires?.names("os") ?? [])].map(platformName),
    },
    userInvocable: fields.boolean("user-invocable") ?? true,
    disableModelInvocation: fields.boolean("disable-model-invocation") ?? false,
  };
}

function split(text: string): { frontmatter?: string; body: string } {
  const lines = text.split(/\r?\n/);
  if (lines[0]?.trimEnd() !== "---") return { body: text };
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === "---");
  if (end < 0) throw new SkillParseError("The frontmatter that begins in line 1 is never closed with ---.");
  const frontmatter = lines.slice(1, end).join("\n");
  if (frontmatter.length > MAX_FRONTMATTER) {
    throw new SkillParseError(`The frontmatter has more than ${MAX_FRONTMATTER} characters.`);
  }
  return { frontmatter, body: lines.slice(end + 1).join("\n") };
}

/** @param at - what the text is, where it is not the frontmatter as a whole */
function readYaml(text: string, at?: string): unknown {
  try {
    return yaml(text);
  } catch (error) {
    // Many a skill says `description: Use when: …` without quotes, which is no YAML but means one thing only.
    const quoted = text.replace(
      /^([A-Za-z][\w-]*):[ \t]+([^\s"'[{|>&*!%@`#].*)$/gm,
      (line, key: string, value: string) =>
        /:(\s|$)|\s#/.test(value) ? `${key}: ${JSON.stringify(value.trimEnd())}` : line,
    );
    try {
      if (quoted !== text) return yaml(quoted);
    } catch {
      // The first error is the one to report.
    }
    const line = error instanceof YAMLParseError ? error.linePos?.[0].line : undefined;
    const message =
      error instanceof Error ? error.message.split("\n", 1)[0]?.replace(/ at line .*$/, "") : error;
    // Line 1 of the file is the opening `---`.
    const where = at ?? `Line ${(line ?? 0) + 1}`;
    throw new SkillParseError(`${where} is not YAML: ${message}`);
  }
}

function yaml(text: string): unknown {
  return parseYaml(text, { maxAliasCount: 16, stringKeys: true, logLevel: "error" }) ?? {};
}

/** Reads fields of an object, refusing those of the wrong kind by name. */
class Fields {
  readonly #values: ReadonlyMap<string, unknown>;
  readonly #path: string;

  constructor(value: unknown, path: string) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new SkillParseError(`${path === "" ? "The frontmatter" : path} must hold fields with names.`);
    }
    this.#values = new Map(Object.entries(value));
    this.#path = path;
  }

  #get(key: string): unknown {
    return this.#values.get(key) ?? undefined;
  }

  #refuse(key: string, wanted: string): never {
    throw new SkillParseError(`${this.#at(key)} must be ${wanted}.`);
  }

  #at(key: string): string {
    return this.#path === "" ? key : `${this.#path}.${key}`;
  }

  text(key: string): string | undefined {
    const value = this.#get(key);
    if (value === undefined) return undefined;
    if (typeof value === "number") return String(value);
    if (typeof value !== "string") this.#refuse(key, "text");
    return value.trim() === "" ? undefined : value;
  }

  boolean(key: string): boolean | undefined {
    const value = this.#get(key);
    if (value === undefined || typeof value === "boolean") return value;
    if (value === "true" || value === "false") return value === "true";
    return this.#refuse(key, "true or false");
  }

  /** One name, or a list of names. */
  names(key: string): readonly string[] {
    const value = this.#get(key);
    if (value === undefined) return [];
    const list: unknown[] = Array.isArray(value) ? value : [value];
    return list.map((one) => {
      if (typeof one !== "string" || one.trim() === "") return this.#refuse(key, "a list of names");
      return one.trim();
    });
  }

  /** An object, or text that holds one. */
  object(key: string): Fields | undefined {
    const value = this.#get(key);
    if (value === undefined) return undefined;
    return new Fields(typeof value === "string" ? readYaml(value, this.#at(key)) : value, this.#at(key));
  }
}

function readDispatch(fields: Fields): SkillDispatch | undefined {
  const how = fields.text("command-dispatch");
  if (how === undefined) return undefined;
  if (how !== "tool") throw new SkillParseError(`command-dispatch must be tool, not ${JSON.stringify(how)}.`);
  const tool = fields.text("command-tool");
  if (tool === undefined) throw new SkillParseError("command-dispatch: tool needs a command-tool.");
  const argMode = fields.text("command-arg-mode") ?? "raw";
  if (argMode !== "raw") {
    throw new SkillParseError(`command-arg-mode must be raw, not ${JSON.stringify(argMode)}.`);
  }
  return { kind: "tool", tool: tool.trim(), argMode };
}

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
