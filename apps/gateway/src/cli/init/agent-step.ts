import { DEFAULT_AGENT, isId } from "@signalbox/config";
import { GatewayError } from "@signalbox/home";
import { assertValidSection } from "./assert-valid-section.ts";
import type { InitOptions, Step } from "./step.ts";

/** Adds or changes an agent if an option names one. Otherwise the agent `main` with its own workspace is sufficient. */
export async function agentStep(
  { home, asker, change, loaded }: Step,
  options: InitOptions,
): Promise<boolean> {
  if (asker.asksPerson && options.agent === undefined && options.workspace === undefined) return false;
  const list = loaded().config.agents.list.filter((agent) => agent !== DEFAULT_AGENT);
  if (list.length > 0 && options.agent === undefined) {
    if (options.workspace !== undefined)
      throw new GatewayError("usage", "--workspace needs an agent: add --agent.");
    return false;
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
  if (id === undefined) return false;
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
  if (elsewhere === before && (index >= 0 || isUsual)) return false;
  assertValidSection(loaded(), "agents.list");
  const at = ["agents", "list", index < 0 ? list.length : index];
  change(`the agent ${id}`, [{ path: [...at, "id"], value: id }]);
  if (elsewhere !== before)
    change(`the workspace of ${id}`, [{ path: [...at, "workspaceDir"], value: elsewhere }]);
  return false;
}
