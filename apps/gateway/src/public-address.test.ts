import { expect, it } from "vitest";
import { createPublicAddress } from "./public-address.ts";

it("is the loopback address with the port of the server, unless one is configured", () => {
  let configured: string | undefined;
  const address = createPublicAddress(() => configured);
  address.listening("http://0.0.0.0:4747");
  expect(address.resolve("/callback")).toBe("http://127.0.0.1:4747/callback");
  configured = "https://bot.example.org/signalbox/";
  expect(address.resolve("/callback")).toBe("https://bot.example.org/signalbox/callback");
});
