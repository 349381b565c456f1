import type { Concerned } from "../facts.ts";
import { group, person } from "./concerned.ts";

const approve = "Approve their pairing code with `signalbox pairing approve`, or add them to access.allow";

/** Meanings of the admission rules, with the settings to change for another outcome. */
export const admission = {
  owner: { because: "its sender is an owner" },
  dm_allowed: { because: "its sender is in access.allow" },
  dm_bound: { because: "a binding names its sender" },
  dm_paired: { because: "its sender is paired" },
  dm_open: { because: "access.dm is open to everyone" },
  group_mention: { because: "the agent was mentioned in a group it talks in" },
  group_reply: { because: "it replies to the agent in a group it talks in" },
  group_open: { because: "the agent answers everything in this group" },
  group_bot: { because: "a bot addressed the agent, and access.groups.bots allows that" },
  token: { because: "its sender has a gateway token" },
  dm_off: {
    because: "direct messages are off",
    remedy: () => "Set access.dm to pairing, allowlist or open.",
  },
  dm_unknown: {
    because: "its sender is not paired, and was sent a pairing code",
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
  group_sender: {
    because: "its sender may not talk to the agent in this group",
    remedy: (message: Concerned) =>
      `Add ${person(message)} to access.allow, or to the \`allow\` of the group's rule in access.groups.rules. access.groups.people sets who is answered in all groups.`,
  },
  not_addressed: {
    because: "it does not address the agent",
    remedy: () => "Mention the agent or reply to it, or set access.groups.requireMention to false.",
  },
  bot: {
    because: "its sender is a bot, and two bots could answer each other forever",
    remedy: () => "To answer bots that address the agent in a group, set access.groups.bots to mentioned.",
  },
  bot_loop: {
    because: "bots wrote there more than 20 times in a minute, so bots get no answer there for five minutes",
    remedy: () => "Make the other bot answer less, or set access.groups.bots to ignore.",
  },
  reply_window: {
    because: "the platform accepts only replies there, and no person has written recently",
    remedy: () => "Ask the person to write first, or send it on another channel.",
  },
  own_message: { because: "the agent wrote it" },
  token_revoked: {
    because: "the token it was sent with was revoked",
    remedy: () => "Give its sender a new token with `signalbox tokens add`.",
  },
};

/** Outcomes of admitted messages. */
export const ends = {
  stopped: { because: "someone stopped it" },
  limit: {
    because: "its run was stopped at its limits, with what it had so far",
    remedy: () => "agents.defaults.limits sets what one run may use.",
  },
  cut: { because: "its answer was cut off at the model's output limit" },
  repeated: { because: "its run was stopped because it kept repeating the same step" },
  empty: {
    because: "the model's answer contained no text",
    remedy: () => "Send it again. If this happens often, give the agent another model.",
  },
  deleted: { because: "it was deleted on the platform before it was answered" },
  queue_full: {
    because: "too many messages were waiting in its conversation",
    remedy: () => "Send it again. session.queue.cap sets how many may wait.",
  },
  poison: {
    because: "the gateway crashed each time it tried to answer",
    remedy: () => "Rephrase the message. The log shows what failed.",
  },
  no_agent: {
    because: "the agent for its conversation is not available",
    remedy: () => "Run `signalbox config check` to see why.",
  },
  internal: { because: "something went wrong in the gateway", remedy: () => "The log has the details." },
  auth: {
    because: "the model provider rejected the API key",
    remedy: () => "Set a working key with `signalbox init`, or in models.providers.<name>.apiKey.",
  },
  billing: {
    because: "the model provider rejected the account: its credit or quota is used up",
    remedy: () => "Check the account on the provider's website.",
  },
  budget: {
    because: "a budget is used up",
    remedy: () =>
      "Wait until it resets, or raise it. `signalbox usage --budgets` lists the budgets; `signalbox config check` says why one cannot be read.",
  },
  rate_limit: {
    because: "the model provider's rate limit was reached",
    remedy: () => "Wait, or add another model to agents.defaults.fallbacks.",
  },
  overloaded: {
    because: "the model provider is overloaded",
    remedy: () => "Wait, or add another model to agents.defaults.fallbacks.",
  },
  overflow: {
    because: "the conversation is too long for the model",
    remedy: () => "Start a new one with /new.",
  },
  invalid: {
    because: "the model provider rejected the request as invalid or unsupported",
    remedy: () => "Correct the model's name or its settings in agents.defaults.model.",
  },
  filter: { because: "the model provider filtered it" },
  network: {
    because: "the model provider could not be reached",
    remedy: () => "Check the network and models.providers.<name>.baseUrl.",
  },
  timeout: {
    because: "the model provider did not answer in time",
    remedy: () => "Try again, or add another model to agents.defaults.fallbacks.",
  },
  protocol: {
    because: "the model provider's response could not be understood",
    remedy: () => "Check models.providers.<name>.api and baseUrl: that address may speak a different API.",
  },
};
