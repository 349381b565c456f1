import { parse as parseYaml, YAMLParseError } from "yaml";
import { z } from "zod";

/** A SKILL.md that says something that cannot be meant. */
export class SkillParseError extends Error {
  override readonly name = "SkillParseError";
  /** Of the file, counted from 1. */
  readonly line: number | undefined;

  constructor(message: string, line?: number) {
    super(message);
    this.line = line;
  }
}

/** Parsing YAML takes milliseconds for each thousand characters; real frontmatter has a few hundred. */
const MAX_FRONTMATTER = 8_192;

/** Whose metadata is read, the first there is: our own, then the names of the format's other hosts. */
const NAMESPACES = ["signalbox", "openclaw", "clawdbot", "moltbot", "clawdis"] as const;

/** The parts of a file: `frontmatter` is absent where it does not begin with `---`. */
export function splitFrontmatter(text: string): { readonly frontmatter?: string; readonly body: string } {
  const lines = text.replace(/^\ufeff/, "").split(/\r\n?|\n/);
  if (lines[0]?.trimEnd() !== "---") return { body: lines.join("\n") };
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === "---");
  if (end < 0)
    throw new SkillParseError("The frontmatter that begins in line 1 is never closed with ---.", 1);
  const frontmatter = lines.slice(1, end).join("\n");
  if (frontmatter.length > MAX_FRONTMATTER) {
    throw new SkillParseError(`The frontmatter has more than ${MAX_FRONTMATTER} characters.`);
  }
  return { frontmatter, body: lines.slice(end + 1).join("\n") };
}

/** @throws SkillParseError */
export function readFrontmatter(text: string): Frontmatter {
  const result = Frontmatter.safeParse(readYaml(text, "The frontmatter"));
  if (result.success) return result.data;
  const { path, message } = result.error.issues[0] ?? { path: [], message: "cannot be read" };
  throw new SkillParseError(`${path.join(".") || "The frontmatter"} ${message}.`);
}

/** Nothing, also written `null` or as an empty text or list. */
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
/** One name, or a list of names. Each costs a look at the machine, so there is a limit. */
const Names = optional(
  z.union([Name.transform((name) => [name]), z.array(Name).max(32)], { error: "must be a list of names" }),
).transform((names) => names ?? []);

/** Fields with names, or text that holds them, as JSON or YAML. */
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
/** Read one by one: an entry that is wrong does not exclude the skill. */
const Anything = z.array(z.unknown()).catch([]);
const HostMetadata = fields({
  emoji: Text,
  always: Flag,
  os: Names,
  requires: Requires,
  primaryEnv: Text,
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

/** What a skill's metadata say of it to the host that runs it. */
export function hostMetadata({ metadata }: Frontmatter): z.output<typeof HostMetadata> {
  const name = NAMESPACES.find((namespace) => metadata?.[namespace] !== undefined);
  return name && metadata?.[name];
}

/** @param what - what the text is, where its first line is the second of the file */
function readYaml(text: string, what?: string): unknown {
  try {
    return yaml(text);
  } catch (error) {
    try {
      const quoted = quoteColons(text);
      if (quoted !== text) return yaml(quoted);
    } catch {
      // The first error is the one to report.
    }
    if (!(error instanceof Error)) throw error;
    const line = (error instanceof YAMLParseError ? error.linePos?.[0].line : undefined) ?? 0;
    const message = error.message.split("\n", 1)[0]?.replace(/ at line .*$/, "");
    throw what === undefined
      ? new SkillParseError(`is not YAML: ${message}`)
      : new SkillParseError(`${what} is not YAML: ${message}`, line + 1);
  }
}

/** Many a skill says `description: Use when: …` without quotes, which is no YAML but means one thing only. */
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
