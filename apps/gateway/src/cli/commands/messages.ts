import type { CommonOptions } from "../common-options.ts";
import { latestMessages } from "../home-messages.ts";
import { printTable, short, time } from "../table.ts";

const TEXT_CHARS = 40;

/** `signalbox messages`: lists the latest messages of all channels, with the ids for `why` and `trace`. */
export async function messages(
  options: CommonOptions & { readonly limit: number; readonly session?: string },
): Promise<void> {
  const rows = await latestMessages(options, options);
  const { session } = options;
  printTable(options.json, rows, {
    none:
      session === undefined
        ? "No messages yet."
        : `No messages in ${session}. \`signalbox sessions\` lists conversations.`,
    columns: {
      TIME: ({ at }) => time(at),
      ID: ({ id }) => id,
      WHERE: ({ channel, account, conversation }) => `${channel}/${account} ${short(conversation, 24)}`,
      FROM: ({ sender }) => short(sender, 24),
      STATE: ({ state }) => state,
      RULE: ({ rule }) => rule ?? "",
      TEXT: ({ text }) => short(text, TEXT_CHARS),
    },
    below: ["`signalbox why <id>` explains why a message was answered or not."],
  });
}
