import type {
  BudgetFacts,
  GivenUpCounts,
  McpServerFacts,
  McpSignedOutFacts,
  MissedFacts,
  NamedAgent,
  NotTriggeredFacts,
  QuestionFacts,
  RequesterFacts,
  StatusFacts,
  UsedTotals,
  WhoamiFacts,
} from "../facts.ts";
import { count, dollars, minuteOf, shortDollars, spanOf } from "../figures.ts";
import { OWNER_COMMANDS } from "../owner-commands.ts";
import { ROLES } from "../policy/en.ts";

/** The gateway's texts in chats. */
export const chat = {
  /** Descriptions of the commands, for `/help`. */
  commands: {
    help: "list the commands you can use here",
    status: "show the agent, the model and what is running",
    whoami: "show who you are to this gateway",
    new: "start a new conversation",
    reset: "same as /new",
    stop: "stop what is running now",
    why: "explain what happened to the last message, or the one you name; `details` shows every step",
    usage: "show tokens and cost",
    queue: "show how messages that arrive during a run are handled; owners can change it",
    speech: "show or choose which answers to you are also spoken",
    skill: "use a skill; without a name, list them",
    skills: "review new and changed skills that need your approval",
    model: "show or set the model for this conversation, or for one message",
    think: "set how much to think in this conversation, or for one message",
    compact: "replace older messages with a summary",
    approve: "approve or deny a tool call; without an id, list those that need approval",
    answer: "answer a question from an agent; just writing the answer works too",
    trust: "review and trust a workspace file that others wrote",
    mcp: "list the MCP servers, and sign in or out of one",
  },
  /** Syntax of the commands' arguments. Keywords are the same in every language. */
  usages: {
    new: "[message]",
    reset: "[message]",
    why: "[message] [details]",
    queue: "[steer|followup|collect|interrupt|default]",
    speech: "[never|voice|always|default]",
    skill: "<name> [text]",
    skills: "[approve <name> <hash>]",
    model: "[name|default] [message]",
    think: "[level|default] [message]",
    approve: "[id] [allow|allow-always|deny]",
    answer: "<id> <answer>",
    trust: "<file or folder> [digest]",
    mcp: "[login|logout <server>]",
    ofSkill: "[text]",
  },
  skillsHead: "Skills:",
  mayNotUse: (command: string): string =>
    OWNER_COMMANDS.has(command)
      ? `Only owners may use /${command}.`
      : `Only people whom an owner has let in may use /${command}.`,
  /** Answer to `/start`, which messengers send when a person opens a bot. */
  greeting: (name: string, hasCommands: boolean) =>
    `Hello! I am ${name}. Write to me what you need.${hasCommands ? " /help lists the commands." : ""}`,
  noCommand: (name: string) =>
    `Unknown command /${name}. /help lists the commands. To send this to the agent as text, put a word in front of it.`,
  commandGone: "This command no longer exists, so it was not run.",
  newConversation: "Started a new conversation.",
  done: "Done.",

  status(facts: StatusFacts): string {
    const { version, upMs, agent, model, thinking, messages, isRunning, waiting } = facts;
    const { calls = 0, skills = 0 } = facts.forOwner ?? {};
    return [
      `Signalbox ${version}, up for ${duration(upMs)}.`,
      `Agent: ${nameAndId(agent)}, model ${model}, thinking ${thinking}.`,
      `Conversation: ${counted(messages, "message")}.`,
      `Now: ${isRunning ? "running" : "nothing running"}, ${waiting} waiting, queue mode ${facts.queueMode}.`,
      ...(calls > 0 ? [`${counted(calls, "tool call needs", "tool calls need")} approval: /approve`] : []),
      ...(skills > 0
        ? [
            `${counted(skills, "new or changed skill needs", "new or changed skills need")} your approval: /skills`,
          ]
        : []),
    ].join("\n");
  },
  whoami({ speaker, role, rule, agent, conversation, sessionKey }: WhoamiFacts): string {
    const place =
      conversation.kind === "direct" ? "a direct chat" : `the ${conversation.kind} ${conversation.id}`;
    return [
      `You are ${speaker}, ${ROLES[role]} (${rule}).`,
      `You are talking to ${nameAndId(agent)} in ${place}.`,
      `Conversation: ${sessionKey}`,
    ].join("\n");
  },
  /** @param dropped messages that waited */
  stopped(wasRunning: boolean, dropped: number): string {
    const what = wasRunning ? "Stopped." : "Nothing was running.";
    if (dropped === 0) return what;
    return `${what} ${dropped === 1 ? "1 waiting message was" : `${dropped} waiting messages were`} dropped.`;
  },

  queue: (mode: string, isOwn: boolean, waiting: number) =>
    `Queue mode: ${mode}${isOwn ? " (for this conversation)" : ""}. ${counted(waiting, "message")} waiting.`,
  queueForOwners: "Only an owner can change the queue mode.",
  noQueueMode: (typed: string, modes: readonly string[]) =>
    `Unknown queue mode ${typed}. Choose one of: ${modes.join(", ")}, default.`,

  speech: (name: string, mode: "never" | "voice" | "always", isOwn: boolean) => {
    const answers = {
      never: "no answers to you",
      voice: "answers to your voice messages",
      always: "all answers to you",
    }[mode];
    return `${name} speaks ${answers}${isOwn ? " (your choice)" : ""}.`;
  },
  noSpeech: "Spoken answers are not set up here.",
  speechFixed: "Only the operator can change which answers are spoken.",
  noSpeechMode: (typed: string, modes: readonly string[]) =>
    `Unknown choice ${typed}. Choose one of: ${modes.join(", ")}, default.`,

  noSkills: "This agent has no skills.",
  noSkill: (typed: string) => `There is no skill named ${typed}. Available skills:`,
  noSkillWaits: "No skill needs approval.",
  sayOfSkills: "Usage: /skills, or /skills approve <name> <hash>",
  thisSkillWaitsNot: (name: string) => `No skill named ${name} needs approval.`,
  skillChangedAgain: (name: string) => `${name} has changed again. Review it with /skills.`,
  skillApproved: (name: string) => `Approved the skill ${name} as it is now.`,
  skillTooLong: (name: string) =>
    `The skill ${name} needs approval. The changes are too long for a chat; \`signalbox skills changes\` shows them.`,

  model: (model: string) => `Model: ${model}.`,
  noModel: (typed: string) => `There is no usable model named ${typed}.`,
  thereAre: "Available:",
  modelDefault: "/model default returns to the agent's own model.",
  modelChosen: (model: string) => `Model set to ${model}, starting with the next turn.`,
  thinking: (level: string) => `Thinking: ${level}.`,
  noThinking: (typed: string) => `Unknown thinking level ${typed}.`,
  thinkingLevels: (levels: readonly string[]) => `Choose one of: ${levels.join(", ")}, default.`,
  thinkingChosen: (level: string) => `Thinking set to ${level}, starting with the next turn.`,
  cannotThink: "This model does not support thinking.",

  nothingBefore: "There is no earlier message here.",
  noMessage: (id: string) => `Message ${id} was not found here.`,

  usage(totals: Partial<UsedTotals> = {}): string {
    const { modelCalls = 0, inputTokens = 0, cacheReadTokens = 0, outputTokens = 0, costMicros = 0 } = totals;
    return `${count(inputTokens)} tokens in (${count(cacheReadTokens)} cached), ${count(outputTokens)} out, ${counted(modelCalls, "model call")}, ${dollars(costMicros)}`;
  },
  usageOfMessage: (isQuoted: boolean): string =>
    isQuoted ? "The message you replied to" : "The previous message",
  usageHere: "This conversation",
  usageYours: "You today (UTC)",
  usageToday: (agent: string) => `${agent} today (UTC)`,
  usageEver: (agent: string) => `${agent}, all time`,
  labelled: (label: string, text: string) => `${label}: ${text}`,
  budgetLeft(facts: BudgetFacts): string {
    return `${budget(facts)}: ${amount(facts.unit, facts.left)} left, resets at ${minuteOf(facts.until)} UTC`;
  },
  budgetUsedUp: (facts: BudgetFacts) => `Budget used up: ${budget(facts)}.`,
  grantMore: (account: string, facts: BudgetFacts) =>
    `Grant "${account}" ${amount(facts.unit, facts.limit)} more, until ${new Date(facts.until).toISOString()}.`,

  sayWhichFile: "Usage: /trust <file or folder>",
  trustInPrivate: (path: string) => `/trust shows ${path}. Use it in a direct conversation.`,
  mcpServers(servers: readonly McpServerFacts[]): string {
    if (servers.length === 0) return "No MCP servers are configured.";
    return servers
      .map(({ name, state, needsSignIn, notes }) =>
        [
          `${name}: ${needsSignIn ? `sign in with /mcp login ${name}` : state}`,
          ...(needsSignIn ? [] : notes),
        ].join("\n  "),
      )
      .join("\n");
  },
  mcpUsage: "Usage: /mcp, /mcp login <server> or /mcp logout <server>",
  noMcpServer: (server: string) => `There is no MCP server ${server} with an address. /mcp lists all.`,
  mcpInPrivate: "Use /mcp login in a direct conversation, because whoever opens the page signs in.",
  mcpOnPage: (server: string) =>
    `Sign in to ${server} on the page MCP servers, or with \`signalbox mcp login ${server}\`, because others can read this conversation.`,
  mcpSignIn: (server: string, issuer: string, url: string) =>
    `Sign in to ${server} at ${issuer}, within 10 minutes:\n${url}`,
  mcpForeignIssuer: (server: string, issuer: string) =>
    `${server} wants you to sign in at another host: ${issuer}\nIf you trust it: /mcp login ${server} ${issuer}`,
  mcpNotStarted: (server: string, reason: string) => `The sign-in at ${server} could not start: ${reason}.`,
  mcpSignedOut(server: string, { wasSignedIn, isRevoked }: McpSignedOutFacts): string {
    if (!wasSignedIn) return `There was no sign-in at ${server}.`;
    return isRevoked
      ? `Signed out of ${server}.`
      : `Signed out of ${server}. The service did not confirm that it revoked the access; you can check your account there.`;
  },
  trustOnMachine: (path: string) => `${path} is too long for a chat; \`signalbox trust\` shows it.`,
  trusted: (path: string) => `${path} is now trusted as if you had written it.`,
  notTrusted: {
    received: (path: string, folder: string) =>
      `${path} came with a message. Copy it out of ${folder}/ and trust the copy.`,
    nothing: (path: string) => `Nothing in ${path} was written by others.`,
    inFolder: (folder: string) => `All of ${folder} was written by others. Trust that folder instead.`,
    outside: (path: string) => `${path} is outside the workspace. Use a path relative to it.`,
    missing: (path: string) => `${path} does not exist.`,
    unusable: (path: string) => `${path} cannot be used.`,
    tooLarge: (path: string) => `There is too much in ${path} to review. Trust parts of it.`,
    review: (path: string) => `Review ${path}, then confirm that you trust exactly this:`,
    changed: (path: string) => `${path} is not the same as what you reviewed. Review it again:`,
  },

  noApprovalWaits: "No tool call needs approval.",
  noApproval: (id: string) => `There is no pending approval ${id}.`,
  notDecided: {
    unknown: (id: string) => `There is no approval ${id}.`,
    decided: (id: string) => `Approval ${id} was already decided.`,
    expired: (id: string) => `Approval ${id} has expired.`,
  },
  noAllowRule: (id: string) =>
    `Approval ${id}: this cannot be made an allow rule. Allow it once, or deny it.`,
  decided: (decision: "allow" | "allow-always" | "deny", tool: string, id: string) =>
    `${{ allow: "Allowed", "allow-always": "Allowed from now on", deny: "Denied" }[decision]}: ${tool}, approval ${id}.`,
  question: (facts: QuestionFacts): string =>
    [
      `Approval ${facts.id}: the agent ${facts.agent} wants to use ${facts.tool}. ${facts.reason}`,
      ...(facts.requester === undefined ? [] : [facts.requester]),
      facts.action,
      ...(facts.program === undefined ? [] : [`Program: ${facts.program}`]),
      ...(facts.folder === undefined ? [] : [`Folder: ${facts.folder}`]),
      ...(facts.hosts.length === 0 ? [] : [`Reaches: ${facts.hosts.join(", ")}`]),
      ...(facts.files.length === 0 ? [] : [`Files it names, as they are now: ${facts.files.join(", ")}`]),
      ...(facts.environment.length === 0 ? [] : [`Environment: ${facts.environment.join(" ")}`]),
      ...(facts.isComplete
        ? []
        : [`Everything else is the same in every call. /approve ${facts.id} shows it.`]),
      `An owner can decide until ${facts.until}${facts.answers.length === 0 ? "." : ":"}`,
      ...facts.answers,
    ].join("\n"),
  requestedBy({ person, isAutomatic, channel, conversation }: RequesterFacts): string {
    const place =
      conversation === undefined ? `a direct chat on ${channel}` : `${conversation} on ${channel}`;
    return isAutomatic
      ? `Started automatically, for example by a schedule, for ${person} in ${place}.`
      : `Asked for by ${person} in ${place}.`;
  },
  actionForOwners: (id: string) =>
    `What exactly it would do is shown to owners alone: on the page, and by /approve ${id} in a direct message.`,
  /** For people who are not owners. */
  waitsForOwner: (id: string, tool: string) =>
    `Approval ${id}: I want to use ${tool} and am waiting for an owner to approve it.`,
  allow: "Allow",
  allowAlways: "Always allow",
  deny: "Deny",
  allowed: "Allowed.",
  denied: "Denied.",
  undecided: "Expired.",

  sayTheAnswer: "Usage: /answer <id> <answer>",
  noQuestion: (id: string) => `There is no open question ${id}.`,
  questionOfOthers: "That question is for someone else.",
  questionOver: "That question no longer needs an answer.",
  byNumber: "Reply with a number, or in your own words.",
  answer: "Answer",
  otherAnswer: "Other answer",
  answered: (text: string) => `Answered: ${text}`,
  needsNoAnswer: "No longer needs an answer.",
  nobodyAnswered: "Nobody answered in time.",

  compacted(replaced: number, messages: number, tokens: number, byModel: boolean): string {
    const by = byModel ? "" : " The model did not write one in time, so it only lists what was there.";
    return `Replaced ${replaced} of ${messages} messages with a summary (about ${tokens} tokens before).${by}`;
  },
  nothingToCompact: "Nothing to compact yet.",
  noUsableModel: (agent: string) => `The agent ${agent} has no usable model.`,
  mayNotUseTool: (tool: string) => `You may not use the tool ${tool} here.`,
  noPlainText: (tool: string) => `The tool ${tool} does not accept plain text.`,
  outcomeUnknown:
    "The gateway restarted while this was running, so it may or may not have taken effect. Check before you try again.",

  stoppedMark: "(stopped)",
  cutMark: "… (cut off at the model's output limit)",
  declined: "The model declined to answer.",
  limitReached: (limit: string) => `(Stopped: this run reached its limit of ${limit}.)`,
  repeated: "(Stopped: this run kept repeating the same step.)",
  waitsForApproval: "(Waiting for approval.)",
  unspoken: (tools: readonly string[]) =>
    `(I have no answer: ${tools.join(", ")} did not work. Try again, or ask for something else.)`,
  emptyAnswer: "(The model sent an answer without text. Please try again, or rephrase your message.)",

  failed: {
    poison: "Your message made me crash several times, so I set it aside. Please rephrase it.",
    noAgent: "The agent for this conversation is no longer available.",
    notSetUp: "Sorry, this agent is not set up to answer. The operator can see why in the log.",
    internal: "Sorry, something went wrong in the gateway. The log has the details.",
    account:
      "Sorry, I could not answer: the model provider rejected this gateway's account. Owners see the reason with /why.",
    budget: "Sorry, I could not answer: the budget is used up. /usage shows when it resets.",
    overloaded: "Sorry, I could not answer: the model provider is overloaded. Please try again in a while.",
    rateLimit:
      "Sorry, I could not answer: the model provider's rate limit is reached. Please try again in a few minutes.",
    invalid:
      "Sorry, I could not answer: the model provider rejected the request, so trying again will not help. Owners see the reason with /why.",
    overflow:
      "Sorry, I could not answer: this conversation is too long for the model. Start a new one with /new.",
    unreachable:
      "Sorry, I could not answer: the model provider cannot be reached. Please try again in a while.",
    model: "Sorry, I could not answer: the model provider returned an error. Please try again.",
  },
  tooManyWait: (dropped: "old" | "new", cap: number): string =>
    dropped === "old"
      ? `Too many messages are waiting here (more than ${cap}), so I am skipping the oldest until I catch up. Please resend anything that still matters.`
      : `Too many messages are waiting here (more than ${cap}), so I am skipping new ones until I catch up. Please send them again later.`,

  pairing: (code: string) =>
    `Pairing code: ${code}. The owner of this assistant can use it to let you in. It expires in ten minutes.`,
  /** For owners. @param place `channel/account` */
  personWaits: (place: string) =>
    `Someone on ${place} waits to be let in. \`signalbox pairing list\` shows who. If you know them, ask for their code, and approve it with \`signalbox pairing approve <code>\`.`,
  paired: "You may talk to this assistant now.",

  /** @param begun part of the answer was delivered */
  expired(count: number, begun: boolean): string {
    if (count > 1)
      return `${count} answers could not be delivered in time and are now out of date, so I did not send them. Please ask again for anything you still need.`;
    const what = begun ? "The rest of an answer" : "An answer";
    return `${what} could not be delivered in time and is now out of date, so I did not send it. Please ask again if you still need it.`;
  },
  notTaken: "I have an answer, but this chat does not accept it. My operator can see why.",
  perhapsSent:
    "I sent an answer, but could not confirm that it arrived. If you do not see it, please ask again.",
  fileNotSent: (name: string, why: string) => `[file: ${name} was not sent: ${why}]`,
  /** Reasons for `fileNotSent`. */
  whyNotSent: {
    refused: "the platform rejected it",
    givenUp: "the upload failed",
    noAttachments: "this channel does not support attachments",
    tooMany: (most: number) => `a message can have at most ${most} attachments`,
    forbidden: "sending it is not allowed",
    notFetched: "fetching it is not allowed",
    empty: "it is empty",
    page: "it is a web page",
    noFile: "the file does not exist",
    noPlainFile: "it is not a regular file",
    outside: "it is outside the agent's workspace",
    unreadable: "it could not be read",
    tooLarge: (size: string, most: string) => `it is ${size}, and at most ${most} can be sent here`,
    noSuchKind: (mimeType: string) => `${mimeType} files cannot be sent here`,
  },
  /** For owners: a schedule or heartbeat was ignored, because its platform accepts only replies. */
  notTriggered: ({ platform, place, windowMs, id }: NotTriggeredFacts): string =>
    `A schedule or heartbeat on ${place} did not run: ${platform} accepts messages only within ${hoursOrMinutes(windowMs)} of the person's last message, and that window has passed. Ask them to send a message first. For details, run \`signalbox why ${id}\`.`,
  /** For owners: an account may have missed messages. */
  missed: ({ place, from, to }: MissedFacts): string =>
    `${place} may have missed messages between ${from} and ${to}, because the gateway did not stop in an orderly way or lost its connection. The platform does not deliver them again.`,
  /** For owners. @param more there may be more than these */
  givenUp(counts: GivenUpCounts, more: boolean): string {
    const sum = counts.reduce((all, { count }) => all + count, 0);
    const some = sum === 1 && !more ? "A reply was" : `${more ? "More than " : ""}${sum} replies were`;
    const list = counts.map(({ count, state, account }) => `${count} ${state} on ${account}`).join(", ");
    return `${some} not delivered: ${list}. \`signalbox outbox list\` shows which and why.`;
  },
};

function counted(number: number, one: string, more = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : more}`;
}

function hoursOrMinutes(ms: number): string {
  return ms % 3_600_000 === 0 ? `${ms / 3_600_000} h` : `${Math.round(ms / 60_000)} min`;
}

function nameAndId({ id, name }: NamedAgent): string {
  return name === id ? id : `${name} (${id})`;
}

function duration(ms: number): string {
  const { unit, value, minutes } = spanOf(ms);
  return unit === "h" ? `${value} h ${minutes} min` : `${value} ${unit}`;
}

function amount(unit: BudgetFacts["unit"], value: number): string {
  return unit === "tokens" ? `${count(value)} tokens` : shortDollars(value);
}

function budget({ of, name, roles, unit, limit, per }: BudgetFacts): string {
  const whose = of === "all" ? "all calls" : name === undefined ? `each ${of}` : `${of} ${name}`;
  const who = roles === undefined ? whose : `${whose} (${roles.join(", ")})`;
  return `${who}, ${amount(unit, limit)} a ${per}`;
}
