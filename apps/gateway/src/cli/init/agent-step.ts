import { DEFAULT_AGENT, isId } from "@signalbox/config";
import { GatewayError } from "@signalbox/home";
import { assertValidSection } from "./assert-valid-section.ts";
import type { InitOptions, Step } from "./step.ts";

/** Asks for the name and workspace of the first agent. */
export async function agentStep({ home, asker, change, loaded }: Step, options: InitOptions): Promise<void> {
  const list = loaded().config.agents.list.filter((agent) => agent !== DEFAULT_AGENT);
  if (list.length > 0 && options.agent === undefined) {
    if (options.workspace !== undefined)
      throw new GatewayError("usage", "--workspace needs an agent: add --agent.");
    return;
  }
  const id = await asker.text({
    message: "Short name for the agent",
    given: options.agent,
    initial: "main",
    refuse: (text) =>
      isId(text)
        ? undefined
        : `"${text}" is not a valid agent id: use 1 to 64 letters, digits, ., _ or -, starting with a letter or digit`,
  });
  if (id === undefined) return;
  const index = list.findIndex((agent) => agent.id === id);
  const before = list[index]?.workspaceDir;
  const usual = home.workspace(id);
  const workspaceDir = await asker.text({
    message: "Folder it works in",
    given: options.workspace,
    initial: before ?? usual,
  });
  const elsewhere = workspaceDir === usual ? undefined : workspaceDir;
  const isUsual = list.length === 0 && id === "main" && !asker.asksPerson;
  if (elsewhere === before && (index >= 0 || isUsual)) return;
  assertValidSection(loaded(), "agents.list");
  const at = ["agents", "list", index < 0 ? list.length : index];
  change([{ path: [...at, "id"], value: id }]);
  if (elsewhere !== before) change([{ path: [...at, "workspaceDir"], value: elsewhere }]);
}
