import { parse as parseYaml, YAMLParseError } from "yaml";
import { z } from "zod";

/** A SKILL.md whose frontmatter is invalid. */
export class SkillParseError extends Error {
  override readonly name = "SkillParseError";
  /** Line in the file, from 1. */
  readonly line: number | undefined;

  constructor(message: string, line?: number) {
    super(message);
    this.line = line;
  }
}

/** Parsing YAML takes milliseconds per thousand characters. Real frontmatter has a few hundred. */
const MAX_FRONTMATTER = 8_192;

/** Names of the metadata that is read. The first one that exists counts: our own, then those of other hosts. */
const NAMESPACES = ["signalbox", "openclaw", "clawdbot", "moltbot", "clawdis"] as const;

interface SplitFile {
  /** Absent if the file does not start with `---`. */
  readonly frontmatter?: string;
  readonly body: string;
  /** Line of the opening `---`, from 1. */
  readonly line: number;
}

/**
 * Splits a file into frontmatter and body. Blank lines before the frontmatter are ignored.
 *
 * @throws SkillParseError
 */
export function splitFrontmatter(text: string): SplitFile {
  const lines = text.replace(/^\ufeff/, "").split(/\r\n?|\n/);
  const start = lines.findIndex((line) => line.trim() !== "");
  if (lines[start]?.trimEnd() !== "---") return { body: lines.join("\n"), line: 1 };
  const line = start + 1;
  const end = lines.findIndex((each, index) => index > start && each.trimEnd() === "---");
  if (end < 0)
    throw new SkillParseError(`The frontmatter that starts in line ${line} is never closed with ---.`, line);
  const frontmatter = lines.slice(line, end).join("\n");
  if (frontmatter.length > MAX_FRONTMATTER) {
    throw new SkillParseError(`The frontmatter has more than ${MAX_FRONTMATTER} characters.`);
  }
  return { frontmatter, body: lines.slice(end + 1).join("\n"), line };
}

/**
 * Parses and validates frontmatter.
 *
 * @param line line of the opening `---` in the file, from 1
 * @throws SkillParseError
 */
export function readFrontmatter(text: string, line: number): Frontmatter {
  const result = Frontmatter.safeParse(readYaml(text, { name: "The frontmatter", line }));
  if (result.success) return result.data;
  const { path, message } = result.error.issues[0] ?? { path: [], message: "cannot be read" };
  throw new SkillParseError(`${path.join(".") || "The frontmatter"} ${message}.`);
}

/** Treats `null`, an empty text and an empty list as absent. */
function emptyToAbsent(value: unknown): unknown {
  if (value === null || (typeof value === "string" && value.trim() === "")) return undefined;
  return Array.isArray(value) && value.length === 0 ? undefined : value;
}

function optional<T extends z.ZodType>(schema: T) {
  return z.preprocess(emptyToAbsent, schema.optional());
}

const Text = optional(z.union([z.string(), z.number().transform(String)], { error: "must be text" }));

const Flag = optional(
  z.union([z.boolean(), z.enum(["true", "false"]).transform((word) => word === "true")], {
    error: "must be true or false",
  }),
);

const Name = z.string().trim().min(1);
/** One name, or a list of names. Each is looked up on the machine, so their number is limited. */
const Names = optional(
  z.union([Name.transform((name) => [name]), z.array(Name).max(32)], { error: "must be a list of names" }),
).transform((names) => names ?? []);

/** An object, or a text that contains one as JSON or YAML. */
function fields<Shape extends z.ZodRawShape>(shape: Shape) {
  const object = z.object(shape, { error: "must hold fields with names" });
  const unwrap = (value: unknown, context: z.core.$RefinementCtx): unknown => {
    if (typeof value !== "string") return value;
    try {
      return readYaml(value);
    } catch (error) {
      if (!(error instanceof SkillParseError)) throw error;
      context.addIssue({ code: "custom", message: error.message });
      return z.NEVER;
    }
  };
  return z.preprocess(emptyToAbsent, z.preprocess(unwrap, object.optional()));
}

const Requires = fields({ bins: Names, anyBins: Names, env: Names, config: Names, os: Names });
/** Entries are read one by one: an invalid entry does not exclude the skill. */
const Anything = z.array(z.unknown()).catch([]);
const Localized = z.record(z.string(), z.string()).catch({});
const HostMetadata = fields({
  emoji: Text,
  localized: Localized,
  always: Flag,
  os: Names,
  requires: Requires,
  primaryEnv: Names,
  install: Anything,
});
const Metadata = fields({
  version: Text,
  signalbox: HostMetadata,
  openclaw: HostMetadata,
  clawdbot: HostMetadata,
  moltbot: HostMetadata,
  clawdis: HostMetadata,
});

const Frontmatter = z.object(
  {
    name: Text,
    description: Text,
    version: Text,
    emoji: Text,
    always: Flag,
    "user-invocable": Flag,
    "disable-model-invocation": Flag,
    "command-dispatch": Text,
    "command-tool": Text,
    "command-arg-mode": Text,
    metadata: Metadata,
  },
  { error: "must hold fields with names" },
);
export type Frontmatter = z.output<typeof Frontmatter>;

/** Returns the metadata for the host. */
export function hostMetadata({ metadata }: Frontmatter): z.output<typeof HostMetadata> {
  const name = NAMESPACES.find((namespace) => metadata?.[namespace] !== undefined);
  return name && metadata?.[name];
}

/** @param place what the text is, and the line before its first one */
function readYaml(text: string, place?: { readonly name: string; readonly line: number }): unknown {
  try {
    return yaml(text);
  } catch (error) {
    try {
      const quoted = quoteColons(text);
      if (quoted !== text) return yaml(quoted);
    } catch {
      // Report the first error.
    }
    if (!(error instanceof Error)) throw error;
    const line = (error instanceof YAMLParseError ? error.linePos?.[0].line : undefined) ?? 0;
    const message = error.message.split("\n", 1)[0]?.replace(/ at line .*$/, "");
    throw place === undefined
      ? new SkillParseError(`is not YAML: ${message}`)
      : new SkillParseError(`${place.name} is not YAML: ${message}`, place.line + line);
  }
}

/** Quotes values that contain a colon: many skills have `description: Use when: …`, which is not YAML. */
function quoteColons(text: string): string {
  return text.replace(
    /^([A-Za-z][\w-]*):[ \t]+([^\s"'[{|>&*!%@`#].*)$/gm,
    (line, key: string, value: string) =>
      /:(\s|$)|\s#/.test(value) ? `${key}: ${JSON.stringify(value.trimEnd())}` : line,
  );
}

function yaml(text: string): unknown {
  return parseYaml(text, { maxAliasCount: 16, stringKeys: true, logLevel: "error" }) ?? {};
}
