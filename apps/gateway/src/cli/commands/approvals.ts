import { type ApprovalInfo, isClientError } from "@signalbox/client";
import { GatewayError } from "@signalbox/home";
import type { CommonOptions } from "../common-options.ts";
import { withStore } from "../home-store.ts";
import { print } from "../output.ts";
import { runningGateway } from "../running.ts";

/** `signalbox approvals list`. A restart ends open requests, and resumed runs ask again. */
export async function list(options: CommonOptions): Promise<void> {
  const { client } = await runningGateway(options.home);
  const open = await client.approvals();
  print(options.json, open, () =>
    open.length === 0
      ? ["No tool call needs approval."]
      : open.flatMap(({ id, agent, tool, requester, reason, action, expiresAt, ...details }) => [
          `${id}  ${agent} wants to use ${tool}, until ${new Date(expiresAt).toISOString()}. ${reason}`,
          ...formatRequester(requester),
          ...action.split("\n").map((line) => `    ${line}`),
          ...formatDetails(details),
        ]),
  );
}

function formatDetails({
  binary,
  cwd,
  files = [],
  env = {},
}: Pick<ApprovalInfo, "binary" | "cwd" | "files" | "env">): readonly string[] {
  return [
    ...files.map(({ path, sha256 }) => `    file: ${path} (sha256 ${sha256})`),
    ...(binary === undefined ? [] : [`    program: ${binary}`]),
    ...(cwd === undefined ? [] : [`    folder: ${cwd}`]),
    ...Object.entries(env).map(([name, value]) => `    variable: ${name}=${value}`),
  ];
}

function formatRequester(requester: ApprovalInfo["requester"]): readonly string[] {
  if (requester === undefined) return [];
  const { id, name, isAutomatic, channel, conversation } = requester;
  const { kind, title = conversation.id } = conversation;
  const person = name === undefined ? id : `${JSON.stringify(name)} (${id})`;
  const place =
    kind === "direct" ? `a direct chat on ${channel}` : `${kind} ${JSON.stringify(title)} on ${channel}`;
  return [`    ${isAutomatic === true ? "started automatically for" : "asked for by"} ${person} in ${place}`];
}

/** `signalbox approvals log`: lists requests with their requesters and outcomes, newest first. */
export async function log(options: CommonOptions): Promise<void> {
  const kept = await withStore(options, "read", (store) =>
    store.approvals.list({ limit: Number.MAX_SAFE_INTEGER }),
  );
  print(options.json, kept, () =>
    kept.length === 0
      ? ["No approval has been requested yet."]
      : kept.flatMap(
          ({ id, state, agentId, sessionKey, tool, subject, requester, createdAt, approver, decidedAt }) => [
            `${id}  ${state.padEnd(7)}  ${new Date(createdAt).toISOString()}  ${agentId}, ${tool}, ${sessionKey}`,
            ...formatRequester(requester),
            ...subject.action.split("\n").map((line) => `    ${line}`),
            ...(decidedAt === undefined
              ? []
              : [`    decided by ${approver}, ${new Date(decidedAt).toISOString()}`]),
          ],
        ),
  );
}

/** `signalbox approvals allow <id>` */
export function allow(id: string, options: CommonOptions): Promise<void> {
  return decide("allow", id, options);
}

/** `signalbox approvals allow-always <id>` */
export function allowAlways(id: string, options: CommonOptions): Promise<void> {
  return decide("allow-always", id, options);
}

/** `signalbox approvals deny <id>` */
export function deny(id: string, options: CommonOptions): Promise<void> {
  return decide("deny", id, options);
}

async function decide(
  answer: "allow" | "allow-always" | "deny",
  id: string,
  options: CommonOptions,
): Promise<void> {
  const { client } = await runningGateway(options.home);
  try {
    await client.decideApproval(id, answer);
  } catch (error) {
    if (!isClientError(error) || error.code !== "not_found") throw error;
    throw new GatewayError(
      "failure",
      `There is no pending approval ${id}. \`signalbox approvals list\` shows them.`,
    );
  }
  print(options.json, { id, answer }, () => [`${id}: ${answer === "deny" ? "denied" : "allowed"}.`]);
}
