import { exampleConfig, TOKEN } from "./harness.ts";

/** A skill whose command runs what is written behind it. */
export const REACH = `---
name: reach
description: Run something.
command-dispatch: tool
command-tool: exec
command-arg-mode: raw
---
Run it.
`;

/** An agent with commands that need an approval once something untrusted was read. */
export function askingConfig(gateway: object, access: object = {}) {
  return exampleConfig({
    gateway: { port: 0, auth: { token: TOKEN }, logLevel: "warn", ...gateway },
    agents: {
      defaults: { model: "anthropic/claude-sonnet-4-6" },
      list: [{ id: "coder", tools: { allow: ["exec"] }, skills: { allow: ["reach"] } }],
    },
    tools: { exec: { sandbox: "none" } },
    channels: { plain: { accounts: { main: {} } } },
    access: { owners: ["plain:anna"], ...access },
  });
}

/** The agents of a configuration: one that may ask people. */
export const ASKING = {
  defaults: { model: "anthropic/claude-sonnet-4-6" },
  list: [{ id: "coder", tools: { allow: ["ask_user"] } }],
};
