import { describe, it } from "vitest";
import { missing, ownersConsole } from "../console.ts";

describe.skipIf(missing !== undefined)("channels in Chromium", () => {
  const console = ownersConsole();

  it("shows configuration changes that need a restart or were rejected", async () => {
    await console.open("/channels");
    await console.page.getByText("take effect after a restart: gateway.port").waitFor();
    await console.page.getByText("these sections keep their earlier values: agents").waitFor();
  });
});
