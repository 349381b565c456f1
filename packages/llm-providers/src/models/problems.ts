/**
 * Why a provider or a reference cannot be used.
 * - `missing_key`: the provider has no key; `variable` is the environment variable that would hold it, if there is one.
 * - `invalid_provider`: the provider's entry is broken at `field`, or its host has turned it off, and so it is off.
 * - `unknown_provider`: the reference names no provider there is.
 * - `unknown_model`: the provider's models are known, and this is none of them (`strict` only).
 */
export type ModelProblem = { readonly provider: string; readonly message: string } & (
  | { readonly code: "missing_key"; readonly variable?: string }
  | { readonly code: "invalid_provider"; readonly field?: string }
  | { readonly code: "unknown_provider" | "unknown_model" }
);
