import type { AgentMessage, InputBlock, UserMessage } from "@signalbox/agent-core";
import { attachmentNote, type Incoming, type MediaForModel } from "@signalbox/attachments";
import { type ChannelDefinition, deadline, type MessageEvent } from "@signalbox/channel";
import {
  type BuiltPrompt,
  buildInboundContext,
  buildSystemPrompt,
  type ContextDocument,
  type ContextMessage,
  formatBody,
  loadWorkspaceFiles,
  type PromptTool,
  type SystemPromptInput,
  type WorkspaceFile,
} from "@signalbox/prompt";
import type { Agent } from "../../agents.ts";
import type { Account } from "../../channels.ts";
import type { GatewayHooks } from "../../hooks/points.ts";
import type { Logger } from "../../log.ts";
import { filesOf } from "../../media.ts";
import type { AgentModel } from "../../models.ts";
import type { AgentsSkills } from "../../skills.ts";
import type { GatewayStore } from "../../store.ts";
import { historyKey } from "../3-accept/unanswered.ts";
import { type MessageTicket, spokenText } from "../4-queue/message.ts";
import { jsonInstructions } from "./json-answer.ts";

export interface PromptOptions {
  readonly store: GatewayStore;
  readonly skills: AgentsSkills;
  readonly account: (channel: string, account: string) => Account | undefined;
  readonly definition: (channel: string, account: string) => ChannelDefinition | undefined;
  readonly mediaIn: Incoming;
  readonly hooks: GatewayHooks;
  readonly logger: Logger;
  readonly now: () => number;
}

/** What the turn being answered carries and the history does not keep. */
export interface InboundExtras {
  /** Trusted metadata and untrusted context. */
  readonly text: string;
  /** Pictures and documents. */
  readonly blocks: readonly InputBlock[];
  /** What it tells of what others said in the group; absent where it tells nothing. */
  readonly told?: ToldHistory;
}

/** Entries of a group's history. */
export interface ToldHistory {
  readonly conversation: string;
  readonly ids: readonly string[];
}

/** What was read besides the message. */
interface ReadAlong {
  readonly pages: readonly ContextDocument[];
  readonly media: Pick<MediaForModel, "blocks" | "files">;
}

/** Makes what the model reads out of what came in. */
export interface Prompts {
  /** The plain messages, as the history keeps them. */
  userMessages(tickets: readonly MessageTicket[]): Promise<UserMessage[]>;
  /** Messages beyond the queue's cap, in short. */
  summary(tickets: readonly MessageTicket[]): UserMessage;
  /** Messages that were deleted on their platform after the model had read them. */
  takenBack(tickets: readonly MessageTicket[]): UserMessage;
  /** Earlier turns that a client of the API keeps itself. */
  seedMessages(ticket: MessageTicket): AgentMessage[];
  inbound(ticket: MessageTicket, read: ReadAlong): Promise<InboundExtras>;
  system(
    agent: Agent,
    agentModel: AgentModel,
    ticket: MessageTicket,
    tools: readonly PromptTool[],
    read: ReadAlong,
  ): Promise<BuiltPrompt>;
}

const RESOLVE_MS = 1_500;
/** The machine's, in which agents are told the time. */
const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const FILES_AGE_MS = 1_000;
const SHORTENED_CHARS = 200;

export function createPrompts(options: PromptOptions): Prompts {
  const { store, now } = options;
  const workspaceFiles = createFileCache(options);

  const senderName = async ({ channel, account, sender }: MessageEvent): Promise<string> => {
    if (sender.name !== undefined) return sender.name;
    const running = options.account(channel, account)?.running;
    if (running?.resolve === undefined) return sender.id;
    const limit = deadline(RESOLVE_MS);
    const found = await running.resolve(sender.id, limit.signal).catch(() => undefined);
    limit.end();
    return found?.name ?? sender.id;
  };
  /** Clients of the gateway itself speak for themselves: their text stands without an envelope. */
  const speaksForItself = ({ channel, account }: MessageEvent): boolean =>
    options.definition(channel, account)?.capabilities.authenticatedByGateway === true;
  const body = async (ticket: MessageTicket): Promise<string> => {
    const { event } = ticket.stored;
    const notes = (await options.mediaIn.take(filesOf(ticket))).map(attachmentNote);
    const text = [spokenText(ticket), ...notes].filter((line) => line !== "").join("\n");
    if (speaksForItself(event)) return text;
    return formatBody({ messageId: event.messageId, senderName: await senderName(event), text });
  };

  return {
    userMessages: (tickets) =>
      Promise.all(
        tickets.map(async (ticket): Promise<UserMessage> => {
          const { timestamp } = ticket.stored.event;
          return { role: "user", content: await body(ticket), timestamp };
        }),
      ),
    summary(tickets) {
      const head = `${tickets.length} earlier messages arrived while you were busy. In short:`;
      return { role: "user", content: [head, ...tickets.map(inShort)].join("\n"), timestamp: now() };
    },
    takenBack(tickets) {
      const head = "(deleted) Their senders took these messages back. Neither answer them nor act on them:";
      return { role: "user", content: [head, ...tickets.map(inShort)].join("\n"), timestamp: now() };
    },
    seedMessages({ stored: { event } }) {
      return (event.turn?.history ?? []).map(({ role, text }): AgentMessage => {
        const timestamp = event.timestamp;
        if (role === "user") return { role, content: text, timestamp };
        const origin = { api: "client", provider: "client", model: "client" };
        return { role, content: [{ type: "text", text }], ...origin, stopReason: "end_turn", timestamp };
      });
    },
    async inbound({ stored: { event, role } }, { pages, media }) {
      const name = await senderName(event);
      const direct = event.conversation.kind === "direct";
      const history = direct ? [] : await groupHistory(store, event);
      const context = buildInboundContext({
        trusted: { channel: event.channel, chatType: event.conversation.kind, role },
        conversation: {
          chatId: event.conversation.id,
          messageId: event.messageId,
          senderId: event.sender.id,
          senderName: name,
          timestamp: event.timestamp,
          isGroupChat: !direct,
          wasMentioned: event.addressed === "mention",
          ...(event.conversation.threadId === undefined ? {} : { threadId: event.conversation.threadId }),
          ...(event.conversation.subject === undefined ? {} : { subject: event.conversation.subject }),
        },
        history,
        ...quotedBy(event),
        files: media.files,
        pages,
        text: event.text,
        timeZone: TIME_ZONE,
        now: now(),
      });
      const blocks = context.blocks.filter(({ name, trusted }) =>
        speaksForItself(event) ? trusted || name === "pages" || name === "files" : name !== "body",
      );
      return {
        text: blocks.map((block) => block.text).join("\n\n"),
        blocks: media.blocks,
        // It is forgotten with the commit of the run that tells it: after a crash it is told again.
        ...(history.length === 0
          ? {}
          : { told: { conversation: historyKey(event), ids: history.map(({ messageId }) => messageId) } }),
      };
    },
    async system(agent, agentModel, { stored, sessionKey }, tools, { pages, media }) {
      const { event } = stored;
      const instructions = instructionsOf(event);
      const model = `${agentModel.model.provider}/${agentModel.model.id}`;
      const { extra } = await options.hooks.modify("before_prompt_build", {
        agentId: agent.id,
        sessionKey,
        event,
        model,
        instructions,
        pages,
        files: media.files,
        extra: [],
      });
      const account = options.account(event.channel, event.account);
      const { text: catalogue } = (await options.skills.forAgent(agent)).catalogue();
      const input: SystemPromptInput = {
        agent: {
          id: agent.id,
          name: agent.name,
          ...(agent.systemPrompt === undefined ? {} : { systemPrompt: agent.systemPrompt }),
        },
        tools,
        ...(catalogue === "" ? {} : { skills: catalogue }),
        workspaceDir: agent.workspaceDir,
        workspaceFiles: await workspaceFiles(agent),
        extra,
        runtime: {
          session: sessionKey,
          channel: event.channel,
          model,
          thinking: agent.thinking,
          capabilities: capabilitiesOf(account),
        },
      };
      return buildSystemPrompt(input);
    },
  };
}

/** What the client of this turn wants the agent to heed. */
function instructionsOf({ turn }: MessageEvent): string | undefined {
  const json = turn?.sampling?.json;
  const said = [turn?.instructions ?? "", json === undefined ? "" : jsonInstructions(json)];
  const text = said.filter((one) => one !== "").join("\n\n");
  return text === "" ? undefined : text;
}

function inShort({ stored: { event } }: MessageTicket): string {
  const { messageId, sender, text } = event;
  const body = formatBody({ messageId, senderName: sender.name ?? sender.id, text });
  return `- ${body.replace(/\s+/g, " ").slice(0, SHORTENED_CHARS)}`;
}

/** Workspace files of each agent, read again when they are older than a second. */
function createFileCache({
  logger,
  now,
}: PromptOptions): (agent: Agent) => Promise<readonly WorkspaceFile[]> {
  const cache = new Map<string, { readonly at: number; readonly files: Promise<readonly WorkspaceFile[]> }>();
  return (agent) => {
    const known = cache.get(agent.id);
    if (known && now() - known.at < FILES_AGE_MS) return known.files;
    const files = loadWorkspaceFiles(agent.workspaceDir).then((loaded) => {
      for (const problem of loaded.problems)
        logger.warn({ agent: agent.id, file: problem.name }, problem.message);
      return loaded.files;
    });
    cache.set(agent.id, { at: now(), files });
    return files;
  };
}

/** What was said in the group since the agent was last addressed. */
async function groupHistory(
  store: GatewayStore,
  event: MessageEvent,
): Promise<(ContextMessage & { messageId: string })[]> {
  const entries = await store.groupHistory.list(historyKey(event));
  return entries.map(({ id, senderId, body, at }) => {
    const said = body !== null && typeof body === "object" && !Array.isArray(body) ? body : {};
    const text = "text" in said && typeof said["text"] === "string" ? said["text"] : "";
    const name = "name" in said && typeof said["name"] === "string" ? { senderName: said["name"] } : {};
    return { messageId: id, senderId, timestamp: at, text, ...name };
  });
}

function quotedBy({ replyTo }: MessageEvent): { quoted?: ContextMessage } {
  if (replyTo?.text === undefined) return {};
  const { messageId, text, senderId } = replyTo;
  return { quoted: { messageId, text, ...(senderId === undefined ? {} : { senderId }) } };
}

function capabilitiesOf(account: Account | undefined): string[] {
  const capabilities = account?.definition.capabilities;
  if (!capabilities) return [];
  const { threads, reactions, edit, cards, sendMedia } = capabilities;
  return [
    ...(threads === "none" ? [] : [threads === "native" ? "threads" : "replies"]),
    ...(reactions === true ? ["reactions"] : []),
    ...(edit === undefined ? [] : ["edits"]),
    ...(cards === undefined ? [] : ["buttons"]),
    ...(sendMedia === undefined ? [] : ["attachments"]),
  ];
}
