import * as z from "zod/mini";
import { ConfigurationState } from "./bodies.ts";

/** A mistake in the configuration, as `signalbox doctor` reports it. */
export const ConfigurationProblem = z.object({
  /** An `error` disables the part that it belongs to. */
  severity: z.enum(["error", "warning"]),
  /** Such as `agents.list[0].model`. Empty for the whole file. */
  path: z.string(),
  /** Starts at 1. */
  line: z.optional(z.number()),
  message: z.string(),
  remedy: z.string(),
  /** The part that it disables, such as `channel account feishu/main`. */
  disables: z.optional(z.string()),
});
export type ConfigurationProblem = z.infer<typeof ConfigurationProblem>;

/**
 * Response of `GET /api/configuration`: the configuration file without its secrets. A marker such as
 * `"<secret models.providers.openai.apiKey>"` replaces each secret in `text` and `values`. A marker that is sent back
 * at the same place keeps the secret.
 */
export const Configuration = z.object({
  file: z.string(),
  /** False if the file can only be edited on the machine of the gateway. `reason` explains why. */
  editable: z.boolean(),
  reason: z.optional(z.string()),
  /** Empty if the file does not exist or is not editable. */
  text: z.string(),
  /** Changes with each change of the file. */
  revision: z.string(),
  /** The values in the file. */
  values: z.unknown(),
  problems: z.array(ConfigurationProblem),
  state: ConfigurationState,
  /** Keys whose changes take effect at the next start, such as `gateway.port`. All others take effect at once. */
  keysForStart: z.array(z.string()),
});
export type Configuration = z.infer<typeof Configuration>;

/** Response of `GET /api/configuration/schema`: a JSON Schema (draft 2020-12). */
export const ConfigurationSchema = z.record(z.string(), z.unknown());
export type ConfigurationSchema = z.infer<typeof ConfigurationSchema>;

/** A change of one value. Without `value`, the key is removed. */
export const ConfigurationEdit = z.strictObject({
  path: z
    .array(z.union([z.string().check(z.maxLength(200)), z.number()]))
    .check(z.minLength(1), z.maxLength(20)),
  value: z.optional(z.unknown()),
});
export type ConfigurationEdit = z.infer<typeof ConfigurationEdit>;

/** Body of `POST /api/configuration` and `POST /api/configuration/check`, with either `text` or `edits`. */
export const ConfigurationChange = z.strictObject({
  /** The revision that the change is based on. */
  revision: z.string(),
  /** The new text of the file. */
  text: z.optional(z.string().check(z.maxLength(250_000))),
  /** Changes of single values. Comments and order stay as they are. */
  edits: z.optional(z.array(ConfigurationEdit).check(z.minLength(1), z.maxLength(200))),
});
export type ConfigurationChange = z.infer<typeof ConfigurationChange>;

/** Response of `POST /api/configuration/check`. */
export const ConfigurationCheck = z.object({
  /** The new text of the file, without secrets. */
  text: z.string(),
  /** Difference from the current text as a unified diff. Empty if nothing changes. */
  diff: z.string(),
  /** All problems of the new text. */
  problems: z.array(ConfigurationProblem),
  /** Errors that the current text does not have. The change is refused while there is one. */
  errors: z.array(ConfigurationProblem),
  /** Sections that change. */
  changed: z.array(z.string()),
  /** Keys that change, such as `agents.list[0].name`. A list whose length changes is one key. */
  keys: z.array(z.string()),
  /** Changed keys that take effect at the next start. */
  forStart: z.array(z.string()),
  /** Programs and packages that the gateway would run with this text and does not run now. */
  programs: z.array(z.string()),
});
export type ConfigurationCheck = z.infer<typeof ConfigurationCheck>;

/** Response of `POST /api/configuration` and `POST /api/configuration/rollback`. */
export const ConfigurationWrite = z.object({
  /** The new revision. */
  revision: z.string(),
  /** Sections that are now in effect. */
  applied: z.array(z.string()),
  /** Changed keys that take effect at the next start. */
  forStart: z.array(z.string()),
  /** Sections that keep their previous values because the file still has earlier errors. */
  kept: z.array(z.string()),
  /** Accounts that were restarted or stopped, as `channel/account`. */
  accounts: z.array(z.string()),
  problems: z.array(ConfigurationProblem),
});
export type ConfigurationWrite = z.infer<typeof ConfigurationWrite>;

/** Response of `GET /api/configuration/history`: versions before each change by a program, latest first. */
export const ConfigurationHistory = z.object({
  versions: z.array(
    z.object({
      id: z.string(),
      /** Time at which it was replaced. */
      replacedAt: z.number(),
      /** Person who replaced it, from the audit log. Absent after a change by the command line. */
      actor: z.optional(z.string()),
      /** Keys that this replacement changed, such as `agents.list[0].name`. */
      keys: z.array(z.string()),
    }),
  ),
});
export type ConfigurationHistory = z.infer<typeof ConfigurationHistory>;

/** Response of `GET /api/configuration/history/:id`. */
export const ConfigurationVersion = z.object({
  id: z.string(),
  /** The text without secrets. */
  text: z.string(),
  /** The changes from the current text to this version, as a unified diff. */
  diff: z.string(),
  /** Keys that a rollback to this version changes. */
  keys: z.array(z.string()),
  /** Keys that a rollback changes and that take effect at the next start. */
  forStart: z.array(z.string()),
  /** Programs and packages that the gateway would run after a rollback and does not run now. */
  programs: z.array(z.string()),
});
export type ConfigurationVersion = z.infer<typeof ConfigurationVersion>;

/** Body of `POST /api/configuration/rollback`. */
export const ConfigurationRollback = z.strictObject({
  id: z.string(),
  /** The revision that is replaced. */
  revision: z.string(),
});
export type ConfigurationRollback = z.infer<typeof ConfigurationRollback>;
