import { expect, test, vi } from "vitest";
import { caller } from "../test/harness.ts";
import { createGatewayTool } from "./gateway.ts";

test("refuses a proposed value of more than 10,000 characters before it is checked", async () => {
  const preview = vi.fn(async () => "diff");
  const tool = createGatewayTool({
    status: async () => "",
    config: async () => "",
    preview,
    apply: async () => {},
  });
  const { call } = caller([tool]);
  const budgets = Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`budget-${at}`, { usd: 1 }]));
  const { content } = await call("gateway", { action: "propose", key: "budgets", value: budgets });
  expect(JSON.stringify(content)).toContain("at most 10000 can be proposed");
  expect(preview).not.toHaveBeenCalled();
  await call("gateway", { action: "propose", key: "budgets", value: { small: { usd: 1 } } });
  expect(preview).toHaveBeenCalled();
});
