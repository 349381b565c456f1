import { type JsonValue, reasonOf } from "@signalbox/agent-core";
import { z } from "zod";
import { defineTool, type ToolDefinition } from "./define.ts";
import { isOwnerInPrivate } from "./files/places.ts";
import { failure, success } from "./result.ts";
import type { RunFacts } from "./types.ts";

/** A proposed configuration change. If the value is absent, the key is removed. */
export interface ConfigChange {
  readonly key: string;
  readonly value?: JsonValue;
}

/**
 * Functions that the host provides to the tool `gateway`. Their results must not contain secrets. If they reject, the
 * model sees the error message.
 */
export interface GatewayToolOptions {
  readonly status: () => Promise<string>;
  /** Returns the effective configuration: the value at a key, or everything. */
  readonly config: (key: string | undefined) => Promise<string>;
  /** Returns a change as a diff. Rejects if the change cannot be made. */
  readonly preview: (change: ConfigChange) => Promise<string>;
  /** Applies a change whose diff an owner has approved. */
  readonly apply: (change: ConfigChange) => Promise<void>;
}

/**
 * Maximum length of a proposed value as JSON, in characters. Parsing and checking a value takes time on the main
 * thread, and nobody can review a longer diff before approval.
 */
const MAX_VALUE_CHARS = 10_000;

type GatewayCall =
  | { readonly action: "status" }
  | { readonly action: "config"; readonly key: string | undefined }
  | { readonly action: "propose"; readonly change: ConfigChange };

/**
 * Creates the tool `gateway`, with which an agent reads the gateway's status and configuration and proposes changes. An
 * owner approves the exact diff of each change.
 */
export function createGatewayTool(options: GatewayToolOptions): ToolDefinition {
  return defineTool({
    name: "gateway",
    description:
      "The gateway you run in. `status` describes it. `config` shows the setting at `key` (agents.defaults.model). `propose` sets `key` to `value`, or removes it if there is no `value`, once an owner has approved the change.",
    inputSchema: z.object({
      action: z.enum(["status", "config", "propose"]),
      key: z.string().min(1).max(300).optional(),
      value: z.json().optional(),
    }),
    effects: "idempotent",
    async claims(args) {
      const call = toCall(args);
      if (call?.action !== "propose") return [{ kind: "read_config", detail: args.action }];
      const chars = JSON.stringify(call.change.value ?? null).length;
      if (chars > MAX_VALUE_CHARS) throw new Error(describeTooLong(chars));
      // A change that cannot be made fails here, before approval is requested.
      await options.preview(call.change);
      return [{ kind: "configure", detail: call.change.key }];
    },
    async subject(args, facts) {
      const call = toCall(args);
      if (call?.action !== "propose") return { action: JSON.stringify(args) };
      const action = await options.preview(call.change);
      return mayReadConfig(facts) ? { action } : { action, forOwners: true };
    },
    async run({ args }, _context, { approved }) {
      const call = toCall(args);
      if (call === undefined) return failure("`propose` needs the `key` to change.");
      try {
        switch (call.action) {
          case "status":
            return success(await options.status(), {});
          case "config":
            return success(await options.config(call.key), {});
          case "propose":
            if (!approved) return failure("No owner approved it. Nothing was changed.");
            await options.apply(call.change);
            return success(`An owner approved it: ${call.change.key} was changed.`, {});
        }
      } catch (error) {
        return failure(reasonOf(error));
      }
    },
  });
}

function describeTooLong(chars: number): string {
  return `The value has ${chars} characters; at most ${MAX_VALUE_CHARS} can be proposed. Propose smaller changes, or ask an owner to edit the file.`;
}

/** Returns true if everyone in the run's conversation may see configuration values. */
function mayReadConfig(facts: RunFacts): boolean {
  return isOwnerInPrivate(facts) || (facts.role === "owner" && facts.taint.length === 0);
}

function toCall({
  action,
  key,
  value,
}: {
  readonly action: GatewayCall["action"];
  readonly key?: string | undefined;
  readonly value?: JsonValue | undefined;
}): GatewayCall | undefined {
  switch (action) {
    case "status":
      return { action };
    case "config":
      return { action, key };
    case "propose":
      if (key === undefined) return undefined;
      return { action, change: value === undefined ? { key } : { key, value } };
  }
}
