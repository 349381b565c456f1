import type { Concerned } from "../facts.ts";
import { group, person } from "./concerned.ts";

const approve =
  "Approve the code that they were sent with `signalbox pairing approve`, or add them to access.allow";

/** What the rules of the gate mean, and what to change where that is not as wanted. */
export const gate = {
  owner: { because: "its sender is an owner" },
  dm_allowed: { because: "its sender is in access.allow" },
  dm_bound: { because: "a binding names its sender" },
  dm_paired: { because: "its sender was paired" },
  dm_open: { because: "access.dm is open to everybody" },
  group_mention: { because: "the agent was mentioned in a group it talks in" },
  group_reply: { because: "it replies to the agent in a group it talks in" },
  group_open: { because: "in this group the agent answers everything" },
  group_bot: { because: "a bot addressed the agent, and access.groups.bots allows that" },
  token: { because: "its sender holds a token of the gateway" },
  dm_off: {
    because: "direct messages are off",
    remedy: () => "Set access.dm to pairing, allowlist or open.",
  },
  dm_unknown: {
    because: "its sender is not paired, and was sent a code instead",
    remedy: (message: Concerned) => `${approve}: ${person(message)}.`,
  },
  dm_not_allowed: {
    because: "its sender is not in access.allow",
    remedy: (message: Concerned) => `Add ${person(message)} to access.allow.`,
  },
  groups_off: {
    because: "groups are off",
    remedy: () => "Set access.groups.mode to allowlist or open.",
  },
  group_not_allowed: {
    because: "the agent does not talk in this group",
    remedy: (message: Concerned) =>
      `Add ${group(message)} to access.groups.allow, name the group in a binding, or set access.groups.mode to open.`,
  },
  not_addressed: {
    because: "nobody addressed the agent",
    remedy: () => "Mention it or reply to it; or set access.groups.requireMention to false.",
  },
  bot: {
    because: "its sender is a bot, and two bots that answer each other never stop",
    remedy: () => "In groups, access.groups.bots: mentioned answers those that address the agent.",
  },
  bot_loop: {
    because: "bots wrote more than 20 times within a minute there, and none is answered for five minutes",
    remedy: () => "Have the other bot answer less; or set access.groups.bots to ignore.",
  },
  own_message: { because: "it is the agent's own" },
  token_revoked: {
    because: "the token that it came with was revoked",
    remedy: () => "Give its sender another one with `signalbox tokens add`.",
  },
};

/** Ends that a message finds after the gate let it in. */
export const ends = {
  stopped: { because: "somebody stopped it" },
  limit: {
    because: "its run ended at its limits, with what it had",
    remedy: () => "agents.defaults.limits says what one run may use.",
  },
  cut: { because: "its answer ended where the model may write no more" },
  repeated: { because: "its run was ended, since the same step was tried over and over" },
  deleted: { because: "it was deleted on the platform before it was answered" },
  queue_full: {
    because: "too many messages waited in its conversation",
    remedy: () => "Send it again; session.queue.cap says how many may wait.",
  },
  poison: {
    because: "the gateway stopped working each time it tried to answer",
    remedy: () => "The log says at what; put the message another way.",
  },
  no_agent: {
    because: "the agent of its conversation cannot work",
    remedy: () => "`signalbox config check` says why.",
  },
  internal: { because: "something went wrong inside the gateway", remedy: () => "Its log says what." },
  auth: {
    because: "the model's provider refused the key",
    remedy: () => "Set a key that works: `signalbox init`, or models.providers.<name>.apiKey.",
  },
  billing: {
    because: "the model's provider refused the account: its credit or quota is used up",
    remedy: () => "Look at the account on the provider's pages.",
  },
  budget: {
    because: "a budget is used up",
    remedy: () =>
      "Wait until it begins anew, or raise it: `signalbox usage --budgets` lists budgets. Of one that cannot be read `signalbox config check` says why.",
  },
  rate_limit: {
    because: "the model's provider limits how often it is asked",
    remedy: () => "Wait, or name another model in agents.defaults.fallbacks.",
  },
  overloaded: {
    because: "the model's provider is overloaded",
    remedy: () => "Wait, or name another model in agents.defaults.fallbacks.",
  },
  overflow: {
    because: "the conversation is longer than the model can take",
    remedy: () => "Begin a new one with /new.",
  },
  invalid: {
    because: "the model's provider cannot do what it was asked",
    remedy: () => "Correct the model's name or its settings: agents.defaults.model.",
  },
  filter: { because: "the model's provider filtered it" },
  network: {
    because: "the model's provider could not be reached",
    remedy: () => "Look at the network, and at models.providers.<name>.baseUrl.",
  },
  timeout: {
    because: "the model's provider did not answer in time",
    remedy: () => "Try again, or name another model in agents.defaults.fallbacks.",
  },
  protocol: {
    because: "the model's provider answered with something that is no answer",
    remedy: () => "Look at models.providers.<name>.api and baseUrl: another API may be behind that address.",
  },
};
