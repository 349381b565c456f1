import type { ImportedSession } from "@signalbox/store";
import type { Place } from "../triggers/trigger.ts";
import type { Item } from "./item.ts";

/** The systems whose homes can be imported. */
export const SYSTEMS = ["openclaw", "nanobot", "hermes"] as const;

export type System = (typeof SYSTEMS)[number];

/** A file for the home. */
export interface FileImport {
  readonly kind: "file";
  readonly part: "workspaces" | "memory";
  readonly id: string;
  /** The file in the source, or its new content. */
  readonly content: { readonly path: string } | { readonly text: string };
  /** Path in the home, with `/`. */
  readonly to: string;
  /** Content that the import changes. Default: none. */
  readonly loss?: string | undefined;
}

/** A skill. It arrives without an approval. */
export interface SkillImport {
  readonly kind: "skill";
  readonly id: string;
  /** Absolute paths of its files, by path in the folder of the skill. */
  readonly files: ReadonlyMap<string, string>;
  /** Folder in the home, with `/`. If the skill stays where it is, its absolute path. */
  readonly to: string;
  readonly loss?: string | undefined;
}

/** A conversation as it is stored here. */
export interface LoadedConversation {
  readonly session: ImportedSession;
  /** Identifies the newest event, to recognize new ones in a later import. */
  readonly lastEvent: string;
  /** Content that could not be imported. */
  readonly losses: readonly string[];
  /** Attachments: their paths in the source, by path in the home. */
  readonly files: ReadonlyMap<string, string>;
}

export interface ConversationImport {
  readonly kind: "session";
  /** Its key in the source. */
  readonly id: string;
  /** Reads the conversation, which may be large. */
  load(): LoadedConversation;
}

/** A person who may write direct messages to one account. */
export interface PersonImport {
  readonly kind: "person";
  readonly id: string;
  readonly channel: string;
  readonly account: string;
  readonly peerId: string;
}

export interface ScheduleImport {
  readonly kind: "schedule";
  readonly id: string;
  /** Id of the schedule here. */
  readonly scheduleId: string;
  readonly when:
    | { readonly kind: "at"; readonly at: number }
    | { readonly kind: "every"; readonly everyMs: number; readonly from: number }
    | { readonly kind: "cron"; readonly expression: string; readonly zone?: string };
  readonly missed: "once" | "skip";
  readonly agentId: string;
  readonly text: string;
  readonly sessionKey: string;
  readonly place: Place;
  readonly loss?: string | undefined;
}

/** Path segment that selects the list entry with this id. */
interface EntryOf {
  readonly id: string;
}

/** A setting of the configuration, and the items of the source that it comes from. */
export interface SettingImport {
  readonly kind: "setting";
  readonly ids: readonly string[];
  readonly path: readonly (string | number | EntryOf)[];
  readonly value: unknown;
  readonly loss?: string | undefined;
  /** A secret, which replaces `value`. It is written to a file of the home. */
  readonly secret?: { readonly name: string; readonly value: string } | undefined;
  /**
   * Settings of one unit are written together or not at all, for example the settings of an account, which is useless
   * without its token.
   */
  readonly unit?: string | undefined;
  /** Reason why the secret that the setting needs is not available. */
  readonly unavailable?: string | undefined;
}

export type Import =
  | FileImport
  | SkillImport
  | ConversationImport
  | PersonImport
  | ScheduleImport
  | SettingImport;

/** A home of another system, read completely. */
export interface SourceHome {
  readonly system: System;
  readonly dir: string;
  /** Version of the program that wrote the home, if it is known. */
  readonly version?: string | undefined;
  readonly imports: readonly Import[];
  /** Items that lead to no import. */
  readonly items: readonly Item[];
  /** Sentences that a person must read first: losses of protection, and a gateway that still runs. */
  readonly warnings: readonly string[];
  /** Steps for a person after the import. */
  readonly steps: readonly string[];
  /** Port of the gateway of the home. Two gateways must not use the same bot. */
  readonly port: number;
  /** Removes temporary copies. */
  close(): void;
}

/** Options of the readers. */
export interface ReadOptions {
  readonly dir: string;
  /** Renamed agents, by their id in the source. */
  readonly agents: Readonly<Record<string, string>>;
  /** Renamed accounts, by `channel/account` in the source. */
  readonly accounts: Readonly<Record<string, string>>;
  /** Ids of owners that a person named, as `channel:id`. */
  readonly owners: readonly string[];
  /** Only conversations with activity since then, in milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** True to keep sessions of schedules, webhooks, sub-agents and terminals as conversations of the web page. */
  readonly all: boolean;
  /** True to keep conversations that cannot be continued here as conversations of the web page. */
  readonly keepUnsupported: boolean;
  /** True if notes that others may have influenced are imported as the owner's own. */
  readonly trustMemory: boolean;
  /** True if agents of OpenClaw and nanobot use their workspaces where they are. */
  readonly inPlace: boolean;
  /** Maximum age of hidden messages, in milliseconds. */
  readonly hiddenMessagesMs: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: number;
  /** Time zone of schedules without one. */
  readonly timeZone: string;
}

/** Formats a path of a setting for people, such as `agents.list[ops].model`. */
export function formatSettingPath(path: SettingImport["path"]): string {
  return path
    .map((step, index) =>
      typeof step === "object"
        ? `[${step.id}]`
        : typeof step === "number"
          ? `[${step}]`
          : index === 0
            ? step
            : `.${step}`,
    )
    .join("");
}
