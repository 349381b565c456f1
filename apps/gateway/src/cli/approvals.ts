import { isClientError } from "@signalbox/client";
import { EXIT, GatewayError } from "../errors.ts";
import type { CommonOptions } from "./common-options.ts";
import { print } from "./output.ts";
import { runningGateway } from "./running.ts";

/** `signalbox approvals list`. Questions live in the running gateway: a restart asks them anew. */
export async function list(options: CommonOptions): Promise<void> {
  const { client } = await runningGateway(options.home);
  const open = await client.approvals();
  print(options.json, open, () =>
    open.length === 0
      ? ["No tool call waits for an approval."]
      : open.flatMap(({ id, agent, tool, reason, action, binary, cwd, env = {}, expiresAt }) => [
          `${id}  ${agent} wants to use ${tool}, until ${new Date(expiresAt).toISOString()}. ${reason}`,
          ...action.split("\n").map((line) => `    ${line}`),
          ...(binary === undefined ? [] : [`    program: ${binary}`]),
          ...(cwd === undefined ? [] : [`    folder: ${cwd}`]),
          ...Object.entries(env).map(([name, value]) => `    variable: ${name}=${value}`),
        ]),
  );
}

/** `signalbox approvals allow|deny <id>` */
export async function decide(answer: "allow" | "deny", id: string, options: CommonOptions): Promise<void> {
  const { client } = await runningGateway(options.home);
  try {
    await client.answerApproval(id, answer);
  } catch (error) {
    if (!isClientError(error) || error.code !== "not_found") throw error;
    throw new GatewayError(
      EXIT.failure,
      `No approval ${id} is open. \`signalbox approvals list\` shows them.`,
    );
  }
  print(options.json, { id, answer }, () => [`${id}: ${answer === "allow" ? "allowed" : "denied"}.`]);
}
