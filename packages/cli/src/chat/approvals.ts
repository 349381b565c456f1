import type { ApprovalInfo, Client } from "@signalbox/client";
import { formatSessionKey } from "@signalbox/routing";
import { visible } from "../output.ts";

/** Tool calls of one conversation that wait for a word, asked about in the terminal. */
export interface ApprovalDesk {
  /** Asks about those that are new. */
  look(): Promise<void>;
  /** Whether the line was the answer to the question that is open. */
  answer(line: string): Promise<boolean>;
}

const ANSWERS = { y: "allow", a: "allow-always", n: "deny" } as const;

export function createApprovalDesk(
  client: Pick<Client, "approvals" | "answerApproval">,
  { agent, conversation }: { readonly agent: string; readonly conversation: string },
  write: (text: string) => void,
): ApprovalDesk {
  const open: ApprovalInfo[] = [];
  const asked = new Set<string>();
  const sessionKey = formatSessionKey({
    kind: "direct",
    agentId: agent,
    channel: "web",
    peerId: conversation,
  });

  return {
    async look() {
      const waiting = (await client.approvals()).filter((approval) => approval.sessionKey === sessionKey);
      const ids = new Set(waiting.map(({ id }) => id));
      // What was decided elsewhere is open here no more.
      for (const { id } of [...open])
        if (!ids.has(id))
          open.splice(
            open.findIndex((one) => one.id === id),
            1,
          );
      for (const approval of waiting) {
        if (asked.has(approval.id)) continue;
        asked.add(approval.id);
        open.push(approval);
        const { tool, reason, action } = approval;
        write(
          visible(
            `\n? ${tool} wants to do this. ${reason}\n${indented(action)}\n  [y] allow  [a] always  [n] deny\n`,
          ),
        );
      }
    },
    async answer(line) {
      const answer = Object.entries(ANSWERS).find(([letter]) => letter === line.trim().toLowerCase())?.[1];
      const [approval] = open;
      if (answer === undefined || approval === undefined) return false;
      open.shift();
      await client.answerApproval(approval.id, answer);
      return true;
    },
  };
}

function indented(text: string): string {
  return text
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n");
}
