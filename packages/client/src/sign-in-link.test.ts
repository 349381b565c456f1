import { expect, it } from "vitest";
import { signInAddress, signInSecret } from "./sign-in-link.ts";

it.each([
  ["http://127.0.0.1:4747", "http://127.0.0.1:4747/#sign-in=s3cret"],
  ["http://0.0.0.0:4747", "http://127.0.0.1:4747/#sign-in=s3cret"],
  ["http://[::]:4747", "http://[::1]:4747/#sign-in=s3cret"],
  ["https://gateway.example/", "https://gateway.example/#sign-in=s3cret"],
])("the sign-in link of a gateway at %s is %s", (url, address) => {
  expect(signInAddress(url, "s3cret")).toBe(address);
  expect(new URL(address).pathname).toBe("/");
  expect(signInSecret(new URL(address).hash)).toBe("s3cret");
});

it.each(["", "#", "#/c/main", "#token=s3cret"])("the fragment %j has no secret", (fragment) => {
  expect(signInSecret(fragment)).toBeUndefined();
});
