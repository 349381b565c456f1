import { reasonOf } from "@signalbox/agent-core";
import { type ApprovalInfo, type Client, isClientError } from "@signalbox/client";
import { formatSessionKey } from "@signalbox/routing";
import { visible } from "@signalbox/telemetry";

/** Prompts for pending tool calls of a conversation at the terminal. */
export interface ApprovalPrompts {
  /** Shows new requests. */
  look(): Promise<void>;
  /** Returns true if the line answered the open request. */
  answer(line: string): Promise<boolean>;
}

const ANSWERS = { y: "allow", a: "allow-always", n: "deny" } as const;
type ApprovalDecision = (typeof ANSWERS)[keyof typeof ANSWERS];

const DECIDED_ELSEWHERE = "Someone else already decided that, or it timed out.\n";

export function createApprovalPrompts(
  client: Pick<Client, "approvals" | "decideApproval">,
  { agent, conversation }: { readonly agent: string; readonly conversation: string },
  write: (text: string) => void,
): ApprovalPrompts {
  let open: readonly ApprovalInfo[] = [];
  const asked = new Set<string>();
  /** The displayed request was decided by other means. */
  let isAnsweredElsewhere = false;
  const sessionKey = formatSessionKey({
    kind: "direct",
    agentId: agent,
    channel: "web",
    peerId: conversation,
  });

  /** The request stays open if its decision could not be delivered. */
  const decide = async (approval: ApprovalInfo, answer: ApprovalDecision): Promise<void> => {
    try {
      await client.decideApproval(approval.id, answer);
    } catch (error) {
      if (isClientError(error) && error.code === "not_found") return write(DECIDED_ELSEWHERE);
      open = [approval, ...open];
      write(`The gateway could not be reached: ${visible(reasonOf(error))}\n`);
    }
  };

  return {
    async look() {
      const waiting = (await client.approvals()).filter((approval) => approval.sessionKey === sessionKey);
      const ids = new Set(waiting.map(({ id }) => id));
      const still = open.filter(({ id }) => ids.has(id));
      if (still.length < open.length) isAnsweredElsewhere = true;
      const isNew = waiting.filter(({ id }) => !asked.has(id));
      open = [...still, ...isNew];
      for (const approval of isNew) {
        asked.add(approval.id);
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
      if (answer === undefined) {
        isAnsweredElsewhere = false;
        return false;
      }
      const [approval, ...others] = open;
      if (approval === undefined && !isAnsweredElsewhere) return false;
      open = others;
      if (approval === undefined) write(DECIDED_ELSEWHERE);
      else await decide(approval, answer);
      isAnsweredElsewhere = false;
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
