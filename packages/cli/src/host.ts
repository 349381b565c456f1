import type { ChannelDefinition } from "@signalbox/channel";
import type { MessageInfo, Trace, TrustAnswer } from "@signalbox/client";
import type { LoadedConfig, Problem } from "@signalbox/config";
import type { Env, GatewayToken, Home } from "@signalbox/home";
import type { Memory } from "@signalbox/memory";
import type { Vault } from "@signalbox/redaction";
import type { PendingSkill, Skill, Skills, SkillsCheck } from "@signalbox/skills";
import type { PruneReport } from "@signalbox/store";
import type { ReplayHost } from "@signalbox/testkit/replay";

/** The gateway, as far as the command line starts it and looks into it. What is heavy it loads when it is asked. */
export interface GatewayHost {
  readonly version: string;
  /** The file that Node.js runs as `signalbox`. */
  readonly program: string;
  /** The channels that come with it. */
  channels(): Promise<readonly ChannelDefinition[]>;
  /** Those of the packages that are not installed beside it. */
  missingPackages(names: readonly string[]): readonly string[];
  /** What it would make of a configuration. */
  prepare(configured: ConfiguredHome, vault: Vault, logLevel: string): Promise<PreparedGateway>;
  agents(configured: ConfiguredHome): AgentsOfHome;
  memories(configured: ConfiguredHome): Promise<MemoriesOfHome>;
  skills(configured: ConfiguredHome): Promise<readonly SkillsOfAgent[]>;
  /** An owner vouches for a file of an agent's workspace, where no gateway runs that has it in mind. */
  trust(configured: ConfiguredHome, agentId: string, path: string): Promise<TrustAnswer>;
  /** Whether somebody may use a tool, by the code that decides. @throws Error for what cannot be asked */
  can(configured: ConfiguredHome, asked: UseAsked): Promise<UseAnswer>;
  /** Removes what is over its time or number, where no gateway runs that does it. */
  prune(configured: ConfiguredHome): Promise<PruneReport>;
  /** The latest messages, the newest first. */
  messages(home: Home, wanted: MessagesWanted): Promise<readonly MessageInfo[]>;
  /** What agents are to do by themselves, the soonest first. */
  schedules(home: Home): Promise<readonly ScheduleInfo[]>;
  /** What is noted about a message, by the gateway's id or the platform's. */
  trace(home: Home, id: string): Promise<Trace | undefined>;
  /** On what scenarios are played. */
  replay(): Promise<ReplayHost>;
}

/** Something that an agent is to do by itself. Times are milliseconds since the epoch. */
export interface ScheduleInfo {
  readonly id: string;
  readonly agent: string;
  /** Absent for a heartbeat, which goes where it is to go by then. */
  readonly session?: string;
  /** In words. */
  readonly when: string;
  readonly nextAt: number;
  readonly lastAt?: number;
  readonly text: string;
}

/** A home with its configuration, read. */
export interface ConfiguredHome {
  readonly home: Home;
  readonly loaded: LoadedConfig;
  readonly env: Env;
}

/** Who wants to use which tool. */
export interface UseAsked {
  /** `channel:id`. */
  readonly sender: string;
  readonly tool: string;
  /** Of the channel: which bot is written to. */
  readonly account: string;
  /** `channel:id` of a group; absent: in a direct conversation. */
  readonly group?: string;
}

export interface UseAnswer {
  readonly agent: string;
  /** What the gate makes of a message there. */
  readonly gate: { readonly kind: string; readonly rule: string };
  /** Absent where the sender is not answered. */
  readonly role?: string;
  readonly uses: readonly {
    /** Whether the run has seen what others wrote. */
    readonly tainted: boolean;
    /** What the call reaches for beyond the tool itself. */
    readonly reachesFor?: string;
    readonly decision: "allow" | "ask" | "deny";
    readonly rule: string;
    readonly reason: string;
  }[];
}

/** A gateway that could be started. */
export interface PreparedGateway {
  readonly problems: readonly Problem[];
  /** Those that come with it, and those that packages and the home bring. */
  readonly channels: readonly ChannelDefinition[];
  /** The agents that can work. */
  readonly agentIds: readonly string[];
  /** Skills of an agent that are new or have changed and wait for an owner, by their names. */
  changedSkills(agentId: string): Promise<readonly string[]>;
  /** Whether the offline demo model answers. */
  readonly isDemo: boolean;
  /** What was tried to show that nobody untrusted reaches what acts. @throws Error that names what is reached */
  describeReach(): string;
  /** Where agents may run commands, in words. @throws where they may and cannot */
  describeExec(): Promise<string>;
  /** @throws GatewayError */
  start(options: StartOptions): Promise<StartedGateway>;
}

export interface StartOptions {
  /** A new one is kept in the home once the gateway runs. */
  readonly token: GatewayToken;
  /** Told when it cannot go on. */
  readonly onFatal: (error: Error) => void;
}

export interface StartedGateway {
  /** Where it listens. */
  readonly url: string;
  /** Reads the configuration again and applies what of it can be; the log says what that is. */
  reload(read: () => LoadedConfig): Promise<void>;
  /** Stops it in order. */
  stop(reason: string): Promise<void>;
}

export interface MessagesWanted {
  readonly limit: number;
  /** Those of one conversation. */
  readonly sessionKey?: string;
}

export interface AgentsOfHome {
  readonly ids: readonly string[];
  readonly defaultId: string;
}

/** What each agent remembers. */
export interface MemoriesOfHome {
  /** Of one of the agents of the home. */
  of(agentId: string): Promise<Memory>;
  /** The topmost scope of notes: that of the gateway's owners. */
  readonly ownersScope: Parameters<Memory["log"]>[0];
  close(): Promise<void>;
}

export interface SkillsOfAgent {
  readonly agent: string;
  readonly usable: readonly Skill[];
  readonly check: SkillsCheck;
  /** What is new or has changed and waits for an owner. */
  readonly pending: readonly PendingSkill[];
  approve: Skills["approve"];
}
