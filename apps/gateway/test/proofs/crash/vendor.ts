import type { Tag } from "./conversation.ts";
import type { Post } from "./evidence.ts";
import type { Random } from "./random.ts";

/** A platform with one person who writes to the bot alone: a vendor's, or the page that the gateway itself has. */
export interface Vendor {
  /** Absent where every gateway has the channel. */
  readonly account?: Readonly<Record<string, unknown>>;
  /** The person, as the channel names people. Absent: whoever has the gateway's token. */
  readonly person?: string;
  readonly secrets: readonly string[];
  /** What the platform calls a message of the person. */
  idOf(tag: Tag): string | undefined;
  /** Has the platform tell of it, until the gateway has taken it. */
  deliver(tag: Tag): Promise<void>;
  /** What the bot sent, in order; its conversation is the session's, whatever the platform calls it. */
  posts(chatId: string): Post[];
  /** Reads what stands there, while the gateway can still be asked. */
  look?(): Promise<void>;
  /** What is not as it should be once everything has come to its end. */
  wrong?(isSetAside: (tag: Tag) => boolean): readonly string[];
  /** Something goes wrong with the next message. */
  fail(random: Random): void;
  heal(): void;
  stop(): Promise<void>;
}

/** The gateway, as its own page knows it. */
export interface PageAccess {
  readonly token: string;
  readonly agent: string;
  /** Where the files are kept that come with messages. Absent: none do. */
  readonly inbox?: string;
  /** Where it listens just now. */
  readonly url: () => string | undefined;
}

/** The same, and the agent that is sent files. */
export interface VendorAccess extends PageAccess {
  readonly reader: Required<Pick<PageAccess, "agent" | "inbox">>;
}
