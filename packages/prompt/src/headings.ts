/** The headings of the context blocks before a message. */
export const HEADINGS = {
  inbound: "## Inbound Context (trusted metadata)",
  conversation: "Conversation info (untrusted metadata):",
  sender: "Sender (untrusted metadata):",
  reply: "The message this one replies to (untrusted):",
  thread: "The first message of this thread (untrusted):",
  forward: "A message that the sender forwarded or shared (untrusted):",
  history: "Earlier in this conversation, not addressed to you (untrusted):",
  edited: "Messages of this conversation that were edited since, as they read now (untrusted):",
  sent: "Sent here by agents from other conversations (untrusted):",
  files: "Files that came with the message (untrusted):",
  pages: "Pages the message links to (untrusted):",
  memory: "From memory, perhaps outdated (untrusted):",
} as const;

/** Matches a heading up to its trust level, with any spacing and case, and with full-width characters. */
function imitationPattern(heading: string): string {
  const [words = "", trust = ""] = heading.split(/[():]/);
  return [...words.trim().split(" "), `[(（][^\\S\\n]*${trust.split(" ")[0]}`]
    .map((word) => (word === "##" ? "[#＃]+" : word.replace(",", "[,，]?")))
    .join("[^\\S\\n]*");
}

/** Source of a regular expression for lines that imitate a heading. */
export const IMITATED_HEADING: string = Object.values(HEADINGS).map(imitationPattern).join("|");
