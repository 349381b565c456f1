import { DEFAULT_AGENT } from "@signalbox/config";
import { GatewayError } from "@signalbox/home";
import { refuseWrong } from "./refuse-wrong.ts";
import type { InitOptions, Step } from "./step.ts";

/** The first agent: its name, and where it works. */
export async function agentStep({ home, asker, change, loaded }: Step, options: InitOptions): Promise<void> {
  const list = loaded().config.agents.list.filter((agent) => agent !== DEFAULT_AGENT);
  if (list.length > 0 && options.agent === undefined) {
    if (options.workspace !== undefined)
      throw new GatewayError("usage", "--workspace says nothing without an agent: name it with --agent.");
    return;
  }
  const id = await asker.text({
    message: "A short name for the agent",
    given: options.agent,
    initial: "main",
    refuse: (text) =>
      /^[a-z][a-z0-9_-]{0,62}$/.test(text)
        ? undefined
        : `"${text}" cannot be an agent's id: lower-case letters, digits, - and _`,
  });
  if (id === undefined) return;
  const workspaceDir = await asker.text({
    message: "The folder in which it works",
    given: options.workspace,
    initial: home.workspace(id),
  });
  const index = list.findIndex((agent) => agent.id === id);
  const at = index < 0 ? list.length : index;
  const isUsual = workspaceDir === undefined || workspaceDir === home.workspace(id);
  if (index >= 0 && isUsual) return;
  if (isUsual && list.length === 0 && id === "main") return;
  refuseWrong(loaded(), "agents.list");
  change([{ path: ["agents", "list", at, "id"], value: id }]);
  if (!isUsual) change([{ path: ["agents", "list", at, "workspaceDir"], value: workspaceDir }]);
}
