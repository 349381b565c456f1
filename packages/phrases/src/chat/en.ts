import type {
  BudgetFacts,
  GivenUpCounts,
  NamedAgent,
  QuestionFacts,
  StatusFacts,
  UsedTotals,
  WhoamiFacts,
} from "../facts.ts";
import { count, dollars, minuteOf, shortDollars, spanOf } from "../figures.ts";
import { ROLES } from "../policy/en.ts";

/** What is said to people in chats. */
export const chat = {
  /** What each command does, for `/help`. */
  commands: {
    help: "what you can say here",
    status: "agent, model and what goes on now",
    whoami: "who you are to this gateway",
    new: "start a new conversation",
    reset: "the same as /new",
    stop: "stop the running turn now",
    why: "how the last message, or the one you name, was dealt with; with `details`, step by step",
    usage: "tokens and cost",
    queue: "what happens to messages that come while a turn runs; owners change it",
    skill: "use a skill; without a name, list them",
    skills: "skills that are new or have changed and wait for you, with what changed",
    model: "the model of this conversation, or of one message",
    think: "how much to think in this conversation, or for one message",
    compact: "put a summary in place of the older conversation",
    approve: "decide about a tool call that waits; without an id, show what waits",
    answer: "answer what an agent has asked you; writing the answer by itself does the same",
    trust: "vouch for a file in the workspace that others wrote: runs may believe it",
  },
  skillsHead: "Skills:",
  mayNotUse: (command: string) => `You may not use /${command} here.`,
  noCommand: (name: string) =>
    `There is no command /${name}; /help lists what there is. Put a word before it to have the agent read it.`,
  commandGone: "This command is not there any more, so it was not carried out.",
  newConversation: "A new conversation.",
  done: "Done.",

  status(facts: StatusFacts): string {
    const { version, upMs, agent, model, thinking, messages, sessionKey, isRunning, waiting } = facts;
    const { calls = 0, skills = 0 } = facts.forOwner ?? {};
    return [
      `Signalbox ${version}, up for ${duration(upMs)}.`,
      `Agent: ${nameAndId(agent)}, model ${model}, thinking ${thinking}.`,
      `Conversation: ${counted(messages, "message")}, ${sessionKey}.`,
      `Now: ${isRunning ? "a turn runs" : "nothing runs"}, ${waiting} waiting, queue mode ${facts.queueMode}.`,
      ...(calls > 0
        ? [`${counted(calls, "tool call waits", "tool calls wait")} for an approval: /approve`]
        : []),
      ...(skills > 0
        ? [`${counted(skills, "skill is", "skills are")} new or changed and waiting for you: /skills`]
        : []),
    ].join("\n");
  },
  whoami({ speaker, role, rule, agent, conversation, sessionKey }: WhoamiFacts): string {
    const place =
      conversation.kind === "direct" ? "a direct chat" : `the ${conversation.kind} ${conversation.id}`;
    return [
      `You are ${speaker}, ${ROLES[role]} (${rule}).`,
      `You talk to ${nameAndId(agent)} in ${place}.`,
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
    `Queue mode: ${mode}${isOwn ? " (of this conversation)" : ""}. ${counted(waiting, "message waits", "messages wait")}.`,
  queueForOwners: "Only an owner can change the queue mode.",
  noQueueMode: (typed: string, modes: readonly string[]) =>
    `There is no queue mode ${typed}. There are: ${modes.join(", ")}, default.`,

  noSkills: "This agent has no skills.",
  noSkill: (typed: string) => `There is no skill ${typed}. There are:`,
  noSkillWaits: "No skill waits for an owner.",
  sayOfSkills: "Say: /skills, or /skills approve <name> <hash>.",
  thisSkillWaitsNot: (name: string) => `No skill ${name} waits for an owner.`,
  skillChangedAgain: (name: string) => `${name} has changed again: /skills`,
  skillApproved: (name: string) => `Approved: the skill ${name} as it is now.`,
  skillTooLong: (name: string) =>
    `The skill ${name} waits for an owner. What changed is too long for a chat: \`signalbox skills changes\` shows it.`,

  model: (model: string) => `Model: ${model}.`,
  noModel: (typed: string) => `There is no usable model ${typed}.`,
  thereAre: "There are:",
  modelDefault: "/model default goes back to the agent's own.",
  modelChosen: (model: string) => `Model from the next turn on: ${model}.`,
  thinking: (level: string) => `Thinking: ${level}.`,
  noThinking: (typed: string) => `There is no thinking level ${typed}.`,
  thinkingLevels: (levels: readonly string[]) => `There are: ${levels.join(", ")}, default.`,
  thinkingChosen: (level: string) => `Thinking from the next turn on: ${level}.`,
  cannotThink: "This model cannot think.",

  nothingBefore: "There is no message before this one.",
  noMessage: (id: string) => `No message ${id} is known here.`,

  usage(totals: Partial<UsedTotals> = {}): string {
    const { modelCalls = 0, inputTokens = 0, cacheReadTokens = 0, outputTokens = 0, costMicros = 0 } = totals;
    return `${count(inputTokens)} tokens in (${count(cacheReadTokens)} of them cached), ${count(outputTokens)} out, ${counted(modelCalls, "model call")}, ${dollars(costMicros)}`;
  },
  usageOfMessage: (isQuoted: boolean): string =>
    isQuoted ? "The message you replied to" : "The message before",
  usageHere: "This conversation",
  usageYours: "You today (UTC)",
  usageToday: (agent: string) => `${agent} today (UTC)`,
  usageEver: (agent: string) => `${agent} in all`,
  labelled: (label: string, text: string) => `${label}: ${text}`,
  budgetLeft(facts: BudgetFacts): string {
    return `${budget(facts)}: ${amount(facts.unit, facts.left)} left, anew at ${minuteOf(facts.until)} UTC`;
  },
  budgetUsedUp: (facts: BudgetFacts) => `A budget is used up: ${budget(facts)}.`,
  grantMore: (account: string, facts: BudgetFacts) =>
    `Grant "${account}" ${amount(facts.unit, facts.limit)} more, until ${new Date(facts.until).toISOString()}.`,

  sayWhichFile: "Say which file: /trust <file or folder>",
  trusted: (path: string) => `${path} counts as yours from now on.`,
  notTrusted: {
    received: (path: string, folder: string) =>
      `${path} came with a message. Copy it out of ${folder}/ and trust the copy.`,
    nothing: (path: string) => `${path} holds nothing of others.`,
    inFolder: (folder: string) => `All of ${folder} is of others; trust that folder.`,
    outside: (path: string) => `${path} is outside the workspace. Use a path relative to it.`,
    missing: (path: string) => `There is no ${path}.`,
    unusable: (path: string) => `${path} cannot be used.`,
  },

  noApprovalWaits: "No tool call waits for an approval.",
  noApproval: (id: string) => `No approval ${id} is open.`,
  notDecided: {
    unknown: (id: string) => `There is no approval ${id}.`,
    decided: (id: string) => `The approval ${id} was already decided.`,
    expired: (id: string) => `The approval ${id} has expired.`,
  },
  noStandingRule: (id: string) => `Approval ${id}: no standing rule can say this; allow it once, or deny it.`,
  decided: (decision: "allow" | "allow-always" | "deny", tool: string, id: string) =>
    `${{ allow: "Allowed", "allow-always": "Allowed from now on", deny: "Denied" }[decision]}: ${tool}, approval ${id}.`,
  question: (facts: QuestionFacts): string =>
    [
      `Approval ${facts.id}: the agent ${facts.agent} wants to use ${facts.tool}. ${facts.reason}`,
      facts.action,
      ...(facts.program === undefined ? [] : [`Program: ${facts.program}`]),
      ...(facts.folder === undefined ? [] : [`Folder: ${facts.folder}`]),
      ...(facts.hosts.length === 0 ? [] : [`Reaches: ${facts.hosts.join(", ")}`]),
      ...(facts.files.length === 0 ? [] : [`Files it names, as they are now: ${facts.files.join(", ")}`]),
      ...(facts.environment.length === 0 ? [] : [`Environment: ${facts.environment.join(" ")}`]),
      `An owner decides, until ${facts.until}:`,
      ...facts.answers,
    ].join("\n"),
  allow: "Allow",
  deny: "Deny",
  allowed: "Allowed.",
  denied: "Denied.",
  undecided: "Expired.",

  sayTheAnswer: "Write the answer behind the id of the question: /answer <id> <answer>",
  noQuestion: (id: string) => `No question ${id} is open.`,
  questionOfOthers: "That question is for somebody else.",
  questionOver: "That question needs no answer any more.",
  byNumber: "A number answers, or your own words.",
  answer: "Answer",
  otherAnswer: "Other answer",
  answered: (text: string) => `Answered: ${text}`,
  needsNoAnswer: "Needs no answer any more.",
  nobodyAnswered: "Nobody answered in time.",

  compacted(replaced: number, messages: number, tokens: number, byModel: boolean): string {
    const by = byModel ? "" : " The model gave none in time, so it only lists what there was.";
    return `A summary stands for ${replaced} of ${messages} messages now (about ${tokens} tokens before).${by}`;
  },
  nothingToCompact: "There is nothing to compact yet.",
  noUsableModel: (agent: string) => `The agent ${agent} has no usable model.`,
  mayNotUseTool: (tool: string) => `You may not use the tool ${tool} here.`,
  noPlainText: (tool: string) => `The tool ${tool} cannot be called with plain text.`,
  outcomeUnknown:
    "The gateway was restarted while this ran, so it may or may not have taken effect. Check before you do it again.",

  stoppedMark: "(stopped)",
  cutMark: "… (the answer was cut at the model's output limit)",
  declined: "The model declined to answer.",
  limitReached: (limit: string) => `(Stopped: this run reached its limit of ${limit}.)`,
  repeated: "(Stopped: the same step was tried over and over.)",
  waitsForApproval: "(Waiting for an approval.)",
  unspoken: (tools: readonly string[]) =>
    `(I have no answer: ${tools.join(", ")} did not work. Ask again, or ask for something else.)`,

  failed: {
    poison: "Your message made me stop working several times, so I set it aside. Please put it another way.",
    noAgent: "The agent of this conversation cannot work any more.",
    notSetUp: "Sorry, this agent is not set up to answer. Its operator can see why in the log.",
    internal: "Sorry, something went wrong inside the gateway. Its log says what.",
    account:
      "Sorry, I could not answer: the model's provider refuses this gateway's account. Its operator has to look at it.",
    budget: "Sorry, I could not answer: the budget for it is used up. /usage says when it begins anew.",
    overloaded: "Sorry, I could not answer: the model's provider is overloaded. Please try again in a while.",
    overflow:
      "Sorry, I could not answer: this conversation is longer than the model can take. Start a new one with /new.",
    unreachable:
      "Sorry, I could not answer: the model's provider cannot be reached. Please try again in a while.",
    model: "Sorry, I could not answer: the model's provider answered with an error. Please try again.",
  },
  tooManyWait: (dropped: "old" | "new", cap: number): string =>
    dropped === "old"
      ? `Too many messages wait here (more than ${cap}), so I leave out the oldest until I have caught up. Send again what still matters.`
      : `Too many messages wait here (more than ${cap}), so I leave out new ones until I have caught up. Please send them again later.`,

  pairing: (code: string) =>
    `Pairing code: ${code}. The owner of this assistant can let you in with it, within ten minutes.`,

  /** @param begun part of the answer was delivered */
  expired(count: number, begun: boolean): string {
    if (count > 1)
      return `${count} answers could not be delivered in time and are out of date, so I did not send them. Please ask again what you still need to know.`;
    const what = begun ? "The rest of an answer" : "An answer";
    return `${what} could not be delivered in time and is out of date, so I did not send it. Please ask again if you still need it.`;
  },
  notTaken: "I have an answer, but this chat does not take it. My operator can see why.",
  fileNotSent: (name: string, why: string) => `[file: ${name} was not sent: ${why}]`,
  /** Behind `fileNotSent`. */
  whyNotSent: {
    refused: "the platform did not take it",
    givenUp: "it could not be uploaded",
    noAttachments: "this channel takes no attachments",
    tooMany: (most: number) => `one message has at most ${most} attachments`,
    forbidden: "it may not be sent",
    notFetched: "it may not be fetched",
    empty: "it is empty",
    page: "it is a page",
    noFile: "there is no such file",
    noPlainFile: "it is not a file",
    outside: "it is not in the agent's workspace",
    unreadable: "it could not be read",
    tooLarge: (size: string, most: string) => `it has ${size}; at most ${most} can be sent here`,
    noSuchKind: (mimeType: string) => `${mimeType} cannot be sent here`,
  },
  /** For owners. @param more there may be more than these */
  givenUp(counts: GivenUpCounts, more: boolean): string {
    const sum = counts.reduce((all, { count }) => all + count, 0);
    const some = sum === 1 && !more ? "A reply was" : `${more ? "More than " : ""}${sum} replies were`;
    const list = counts.map(({ count, state, account }) => `${count} ${state} on ${account}`).join(", ");
    return `${some} not delivered: ${list}. \`signalbox outbox list\` shows what and why.`;
  },
};

function counted(number: number, one: string, more = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : more}`;
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
